//! Points as users give them.

use super::NoGeo;
use crate::error::Result;
use std::fmt;
use std::hash::{Hash, Hasher};

/// A point on the globe, in degrees.
///
/// Its text is `latitude,longitude`. Others are read, too: `latitude/longitude`, `4.154E,49.255N`, whose letters tell which is which,
/// and the well-known text `POINT(longitude latitude)`.
///
/// ```
/// use treepie::geo::GeoPoint;
///
/// let reims = GeoPoint::new(49.255, 4.154)?;
/// assert_eq!("4.154E,49.255N".parse::<GeoPoint>()?, reims);
/// assert_eq!("POINT(4.154 49.255)".parse::<GeoPoint>()?, reims);
/// assert_eq!(reims.to_string(), "49.255,4.154");
/// let swapped = "103.85,1.29".parse::<GeoPoint>().unwrap_err();
/// assert!(swapped.to_string().contains("did you mean 1.29,103.85?"));
/// # Ok::<(), treepie::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct GeoPoint {
    lat: f64,
    lon: f64,
}

impl GeoPoint {
    /// Makes a point of a latitude and a longitude.
    ///
    /// These are from −90 to 90, and from −180 to 180.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) for degrees beyond these.
    pub fn new(lat: f64, lon: f64) -> Result<Self> {
        Self::checked(lat, lon).map_err(|wrong| wrong.into_usage("making a point"))
    }

    /// Works like [`new`](Self::new).
    pub(crate) fn checked(lat: f64, lon: f64) -> Result<Self, NoGeo> {
        let is_lat = |degrees: f64| degrees.abs() <= 90.0;
        let is_lon = |degrees: f64| degrees.abs() <= 180.0;
        if is_lat(lat) && is_lon(lon) {
            // No −0, which is printed as what it is.
            return Ok(GeoPoint { lat: lat + 0.0, lon: lon + 0.0 });
        }
        let found = match (lat, lon) {
            _ if !lat.is_finite() || !lon.is_finite() => format!("{lat},{lon}"),
            _ if is_lat(lat) => format!(
                "longitude {lon}, which is beyond ±180: metres of a projection? coordinates are degrees"
            ),
            _ if is_lat(lon) && is_lon(lat) => format!(
                "latitude {lat}, which is beyond ±90: points are latitude,longitude; did you mean {lon},{lat}?"
            ),
            _ if is_lon(lat) => format!("latitude {lat}, which is beyond ±90"),
            _ => format!(
                "latitude {lat}, which is beyond ±90: metres of a projection? coordinates are degrees"
            ),
        };
        Err(NoGeo::new("a latitude from -90 to 90 and a longitude from -180 to 180", found))
    }

    /// A point of degrees that are known to be possible.
    pub(super) fn inside(lat: f64, lon: f64) -> Self {
        GeoPoint { lat, lon }
    }

    /// Degrees north of the equator.
    pub fn lat(self) -> f64 {
        self.lat
    }

    /// Degrees east of Greenwich.
    pub fn lon(self) -> f64 {
        self.lon
    }

    fn bits(self) -> (u64, u64) {
        (self.lat.to_bits(), self.lon.to_bits())
    }
}

impl PartialEq for GeoPoint {
    fn eq(&self, other: &Self) -> bool {
        self.bits() == other.bits()
    }
}

impl Eq for GeoPoint {}

impl Hash for GeoPoint {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bits().hash(state);
    }
}

impl fmt::Display for GeoPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{},{}", self.lat, self.lon)
    }
}

/// A number as it is usually written, if a float holds it: Rust takes `inf` for one, too.
pub(super) fn degrees(text: &str) -> Option<f64> {
    let text = text.trim();
    let is_of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
    let has_digit = text.contains(|c: char| c.is_ascii_digit());
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    number.filter(|_| has_digit && text.chars().all(is_of_number))
}
