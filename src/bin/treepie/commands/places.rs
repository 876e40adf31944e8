//! Cells and boxes in what is printed.

use serde_json::{Value, json};
use treepie::facet::FacetCounts;
use treepie::geo::{GeoArea, GeoCell, GeoPoint};
use treepie::query::Query;

/// Query for the documents of a cell.
pub(super) fn select(facet: &FacetCounts, cell: GeoCell) -> String {
    Query::within_area(&facet.field, GeoArea::Cell(cell)).to_string()
}

/// Sides of a box in degrees, by the corners in the south-west and the north-east.
pub(super) fn box_to_json((south_west, north_east): (GeoPoint, GeoPoint)) -> Value {
    json!({
        "south": south_west.lat(),
        "west": south_west.lon(),
        "north": north_east.lat(),
        "east": north_east.lon(),
    })
}
