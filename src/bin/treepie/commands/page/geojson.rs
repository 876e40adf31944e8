//! A page as GeoJSON: cells of a grid, and hits with their points.

use serde_json::{Map, Value, json};
use treepie::facet::{Bucket, FacetCounts, FacetKind};
use treepie::geo::GeoPoint;
use treepie::{Field, FieldKind, Hit, Schema};

use super::super::{facet, places, value_to_json};
use super::{HitsPage, say_why_stopped};
use crate::failure::{Outcome, usage};

impl HitsPage<'_> {
    /// A feature for each cell, whose shape is that of the cell, and behind them one for each hit, whose place is that of its points.
    ///
    /// Points are those of the field that cells are of, or else of the only one that is shown.
    pub(in super::super) fn to_geojson(&self, schema: &Schema) -> Outcome<Value> {
        let grid = self.only_grid()?;
        let place = match self.found.hits.is_empty() {
            true => None,
            false => Some(self.place(schema, grid)?),
        };
        let cells = grid.map_or(&[][..], |grid| &grid.buckets).iter();
        let cells = cells.map(|bucket| self.cell_to_feature(grid, bucket));
        let hits = self.found.hits.iter().map(|hit| self.hit_to_feature(schema, place, hit));
        let mut object = json!({
            "type": "FeatureCollection",
            "features": cells.chain(hits).collect::<Vec<_>>(),
            "total": {
                "value": self.found.total.value,
                "relation": self.found.total.relation.name(),
            },
        });
        if let (Some(grid), Some(object)) = (grid, object.as_object_mut()) {
            object.insert("grid".into(), grid.grid.map(|it| it.to_string()).into());
            object.insert("missing".into(), grid.missing.into());
        }
        if let (Some(groups), Some(object)) = (self.found.groups, object.as_object_mut()) {
            object.insert("groups".into(), groups.into());
        }
        say_why_stopped(&mut object, self.found);
        Ok(object)
    }

    /// The facet of cells, and no other.
    fn only_grid(&self) -> Outcome<Option<&FacetCounts>> {
        match &self.found.facets[..] {
            [] => Ok(None),
            [facet] if facet.kind == FacetKind::Grid => Ok(Some(facet)),
            others => {
                let other = others.iter().find(|it| it.kind != FacetKind::Grid);
                let found = match other {
                    Some(facet) => format!("one of '{}' with other buckets", facet.field),
                    None => format!("{} of these", others.len()),
                };
                let error = usage("printing facets as GeoJSON");
                let error = error.expected("one facet of cells, as location:tile=8").found(found);
                Err(error.hint("--format json prints all facets").into())
            }
        }
    }

    /// The field that hits have their places of.
    fn place(&self, schema: &Schema, grid: Option<&FacetCounts>) -> Outcome<&Field> {
        let mut places: Vec<&Field> = vec![];
        for place in self.fields.iter().copied().filter(|it| is_place(it)) {
            if places.iter().all(|known| known.name != place.name) {
                places.push(place);
            }
        }
        let error = usage("printing hits as GeoJSON");
        if let Some(grid) = grid {
            let of_grid = places.iter().find(|field| field.name == grid.field);
            let error = error
                .expected(format!("'{}', which cells are of, among the fields shown", grid.field));
            let hint = "it is stored, and one of --fields where these are given; --limit 0 prints cells alone";
            return Ok(of_grid.copied().ok_or_else(|| error.found(names(&places)).hint(hint))?);
        }
        match places[..] {
            [place] => Ok(place),
            _ => {
                let error = error.expected("one field of points among the fields shown");
                let of_schema: Vec<&Field> =
                    schema.fields().iter().filter(|it| is_place(it)).collect();
                let hint = match of_schema[..] {
                    [] => "the index has no field of points".to_owned(),
                    _ => format!("name one of them with --fields: {}", names(&of_schema)),
                };
                Err(error.found(names(&places)).hint(hint).into())
            }
        }
    }

    fn cell_to_feature(&self, grid: Option<&FacetCounts>, bucket: &Bucket) -> Value {
        let mut properties = json!({
            "cell": value_to_json(&bucket.value),
            "count": bucket.count,
            "select": grid.zip(bucket.cell).map(|(grid, cell)| places::select(grid, cell)),
        });
        facet::add_within(&mut properties, bucket, &|hit| self.hit_to_json(hit, false));
        let geometry = bucket.cell.map(|cell| {
            let (a, b) = cell.corners();
            let corners = [
                (a.lon(), a.lat()),
                (b.lon(), a.lat()),
                (b.lon(), b.lat()),
                (a.lon(), b.lat()),
                (a.lon(), a.lat()),
            ];
            json!({ "type": "Polygon", "coordinates": [corners.map(|(lon, lat)| [lon, lat])] })
        });
        feature(None, geometry, properties)
    }

    fn hit_to_feature(&self, schema: &Schema, place: Option<&Field>, hit: &Hit) -> Value {
        let values = place.and_then(|field| hit.fields.get(&field.name));
        let points = values.into_iter().flat_map(|values| values.iter());
        let points: Vec<[f64; 2]> = points.filter_map(|it| it.as_point()).map(position).collect();
        let geometry = match &points[..] {
            [] => None,
            [point] => Some(json!({ "type": "Point", "coordinates": point })),
            points => Some(json!({ "type": "MultiPoint", "coordinates": points })),
        };
        let key = schema.key().and_then(|key| hit.fields.get(&key.name));
        let key = key.and_then(|values| values.iter().next()).map(value_to_json);
        // The standard has no others.
        let key = key.filter(|key| key.is_string() || key.is_number());
        feature(key, geometry, self.hit_to_json(hit, true))
    }
}

/// Longitude and latitude, as the standard has it.
fn position(point: GeoPoint) -> [f64; 2] {
    [point.lon(), point.lat()]
}

fn feature(id: Option<Value>, geometry: Option<Value>, properties: Value) -> Value {
    let mut feature = Map::new();
    feature.insert("type".into(), "Feature".into());
    if let Some(id) = id {
        feature.insert("id".into(), id);
    }
    feature.insert("geometry".into(), geometry.unwrap_or_default());
    feature.insert("properties".into(), properties);
    feature.into()
}

fn is_place(field: &Field) -> bool {
    matches!(field.kind, FieldKind::Point { .. })
}

/// Fields in an error: `'a' and 'b'`.
fn names(fields: &[&Field]) -> String {
    match fields {
        [] => "none".to_owned(),
        fields => {
            let names: Vec<_> = fields.iter().map(|field| format!("'{}'", field.name)).collect();
            names.join(" and ")
        }
    }
}
