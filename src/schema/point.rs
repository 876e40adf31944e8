//! Points of a field: the order of coordinates in arrays.

/// Bytes of a point in a row: two numbers of 32 bits.
pub(crate) const POINT_LEN: usize = 2 * size_of::<u32>();

/// Order of the two numbers of an array that stands for a point.
///
/// Both orders are common, so that a field takes arrays only if its schema says which it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CoordinateOrder {
    /// The latitude first: `[48.8566, 2.3522]`.
    LatLon,
    /// The longitude first, as GeoJSON has it: `[2.3522, 48.8566]`.
    LonLat,
}

impl CoordinateOrder {
    /// All orders.
    pub const ALL: [CoordinateOrder; 2] = [CoordinateOrder::LatLon, CoordinateOrder::LonLat];

    /// The name used in schema files.
    ///
    /// ```
    /// use treepie::schema::CoordinateOrder;
    ///
    /// assert_eq!(CoordinateOrder::ALL.map(CoordinateOrder::name), ["latlon", "lonlat"]);
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            CoordinateOrder::LatLon => "latlon",
            CoordinateOrder::LonLat => "lonlat",
        }
    }
}
