//! Venues, plans and layouts in Postgres.

use std::{collections::HashMap, sync::Arc};

use sqlx::{PgConnection, PgPool, Row, postgres::PgRow};

use super::{
    layout::Layout,
    plan::{Area, Category, Chart, Plan, Seat},
};
use crate::{
    db::ImpossibleRow,
    events::Event,
    holds::store::index_to_sql,
    ids::{EventId, VenueId},
    seat_map::Body,
};

/// Stores a chart as a venue, in bulk.
pub async fn insert_venue(
    tx: &mut PgConnection,
    venue: &VenueId,
    format: &str,
    chart: &Chart,
) -> Result<(), sqlx::Error> {
    sqlx::query("INSERT INTO venues (venue_id, name, format, seats) VALUES ($1, $2, $3, $4)")
        .bind(venue.as_str())
        .bind(&chart.name)
        .bind(format)
        .bind(i32::try_from(chart.seats.len()).unwrap_or(i32::MAX))
        .execute(&mut *tx)
        .await?;
    sqlx::query(
        "INSERT INTO venue_categories (venue_id, category_id, ordinal, name)
         SELECT $1, c.id, c.n::integer, c.name
         FROM UNNEST($2::text[], $3::text[]) WITH ORDINALITY AS c (id, name, n)",
    )
    .bind(venue.as_str())
    .bind(chart.categories.iter().map(|c| c.id.clone()).collect::<Vec<_>>())
    .bind(chart.categories.iter().map(|c| c.name.clone()).collect::<Vec<_>>())
    .execute(&mut *tx)
    .await?;
    insert_seats(tx, venue, &chart.seats).await?;
    sqlx::query(
        "INSERT INTO venue_areas (venue_id, area, ordinal, capacity, category_id)
         SELECT $1, a.area, a.n::integer, a.capacity, a.category
         FROM UNNEST($2::text[], $3::integer[], $4::text[]) WITH ORDINALITY AS a (area, capacity, category, n)",
    )
    .bind(venue.as_str())
    .bind(chart.areas.iter().map(|a| a.area.clone()).collect::<Vec<_>>())
    .bind(chart.areas.iter().map(|a| index_to_sql(a.capacity)).collect::<Vec<_>>())
    .bind(chart.areas.iter().map(|a| a.category.clone()).collect::<Vec<_>>())
    .execute(tx)
    .await?;
    Ok(())
}

async fn insert_seats(tx: &mut PgConnection, venue: &VenueId, seats: &[Seat]) -> Result<(), sqlx::Error> {
    let texts = |of: fn(&Seat) -> &String| seats.iter().map(|s| of(s).clone()).collect::<Vec<_>>();
    let flags = |of: fn(&Seat) -> bool| seats.iter().map(of).collect::<Vec<_>>();
    sqlx::query(
        "INSERT INTO venue_seats (venue_id, idx, seat_id, section, row_name, number, x, y, category_id, accessible,
                                  companion, restricted_view, right_idx)
         SELECT $1, s.n::integer - 1, s.seat_id, s.section, s.row_name, s.number, s.x, s.y, s.category, s.accessible,
                s.companion, s.restricted_view, s.right_idx
         FROM UNNEST($2::text[], $3::text[], $4::text[], $5::text[], $6::float8[], $7::float8[], $8::text[],
                     $9::boolean[], $10::boolean[], $11::boolean[], $12::integer[])
              WITH ORDINALITY AS s (seat_id, section, row_name, number, x, y, category, accessible, companion,
                                    restricted_view, right_idx, n)",
    )
    .bind(venue.as_str())
    .bind(texts(|s| &s.seat_id))
    .bind(texts(|s| &s.section))
    .bind(texts(|s| &s.row))
    .bind(texts(|s| &s.number))
    .bind(seats.iter().map(|s| s.x).collect::<Vec<_>>())
    .bind(seats.iter().map(|s| s.y).collect::<Vec<_>>())
    .bind(texts(|s| &s.category))
    .bind(flags(|s| s.accessible))
    .bind(flags(|s| s.companion))
    .bind(flags(|s| s.restricted_view))
    .bind(seats.iter().map(|s| s.right.map(index_to_sql)).collect::<Vec<_>>())
    .execute(tx)
    .await?;
    Ok(())
}

/// The chart of a venue, without warnings; none if there is no such venue.
pub async fn load_chart(tx: &mut PgConnection, venue: &VenueId) -> Result<Option<Chart>, sqlx::Error> {
    let name: Option<String> = sqlx::query_scalar("SELECT name FROM venues WHERE venue_id = $1")
        .bind(venue.as_str())
        .fetch_optional(&mut *tx)
        .await?;
    let Some(name) = name else { return Ok(None) };
    let categories =
        sqlx::query("SELECT category_id, name FROM venue_categories WHERE venue_id = $1 ORDER BY ordinal")
            .bind(venue.as_str())
            .fetch_all(&mut *tx)
            .await?;
    let seats = sqlx::query("SELECT * FROM venue_seats WHERE venue_id = $1 ORDER BY idx")
        .bind(venue.as_str())
        .fetch_all(&mut *tx)
        .await?;
    let areas = sqlx::query("SELECT * FROM venue_areas WHERE venue_id = $1 ORDER BY ordinal")
        .bind(venue.as_str())
        .fetch_all(tx)
        .await?;
    Ok(Some(Chart {
        name,
        categories: categories
            .iter()
            .map(|row| Ok(Category { id: row.try_get("category_id")?, name: row.try_get("name")? }))
            .collect::<Result<_, sqlx::Error>>()?,
        seats: seats.iter().map(read_seat).collect::<Result<_, _>>()?,
        areas: areas.iter().map(read_area).collect::<Result<_, _>>()?,
        warnings: Vec::new(),
    }))
}

/// The seats of an event with its prices, and its layout.
pub async fn load_plan(db: &PgPool, event: &Event) -> Result<(Arc<Plan>, Arc<Layout>), sqlx::Error> {
    let mut connection = db.acquire().await?;
    let wrong = |column| ImpossibleRow { table: "events", column, id: event.event_id.to_string() };
    let chart = load_chart(&mut connection, &event.venue_id).await?.ok_or_else(|| wrong("venue_id"))?;
    let rows = sqlx::query("SELECT category_id, amount FROM event_prices WHERE event_id = $1")
        .bind(event.event_id.as_str())
        .fetch_all(&mut *connection)
        .await?;
    let prices = rows
        .iter()
        .map(|row| Ok((row.try_get("category_id")?, row.try_get("amount")?)))
        .collect::<Result<HashMap<String, i64>, sqlx::Error>>()?;
    let plan = Plan::new(chart.seats, chart.areas, &prices).ok_or_else(|| wrong("prices"))?;
    let body: Vec<u8> = sqlx::query_scalar("SELECT body FROM layouts WHERE layout_id = $1")
        .bind(&event.layout_id)
        .fetch_one(&mut *connection)
        .await?;
    // Compressing a large hall takes tens of milliseconds, which would hold up every request of this thread.
    let body = tokio::task::spawn_blocking(move || Body::new(body))
        .await
        .map_err(|error| sqlx::Error::Io(std::io::Error::other(error)))?;
    let layout = Layout { layout_id: event.layout_id.clone(), body };
    Ok((Arc::new(plan), Arc::new(layout)))
}

/// Gives an event its seats, all available, and its prices.
pub async fn insert_event_seats(
    tx: &mut PgConnection,
    event: &EventId,
    seats: u32,
    prices: &[(String, i64)],
) -> Result<(), sqlx::Error> {
    sqlx::query("INSERT INTO event_seats (event_id, idx) SELECT $1, generate_series(0, $2 - 1)")
        .bind(event.as_str())
        .bind(index_to_sql(seats))
        .execute(&mut *tx)
        .await?;
    sqlx::query(
        "INSERT INTO event_prices (event_id, category_id, amount)
         SELECT $1, p.category_id, p.amount FROM UNNEST($2::text[], $3::bigint[]) AS p (category_id, amount)",
    )
    .bind(event.as_str())
    .bind(prices.iter().map(|(id, _)| id.clone()).collect::<Vec<_>>())
    .bind(prices.iter().map(|(_, amount)| *amount).collect::<Vec<_>>())
    .execute(tx)
    .await?;
    Ok(())
}

/// Stores a layout under its hash; storing it again changes nothing.
pub async fn insert_layout(tx: &mut PgConnection, layout_id: &str, body: &[u8]) -> Result<(), sqlx::Error> {
    sqlx::query("INSERT INTO layouts (layout_id, body) VALUES ($1, $2) ON CONFLICT DO NOTHING")
        .bind(layout_id)
        .bind(body)
        .execute(tx)
        .await?;
    Ok(())
}

/// The body of a layout.
pub async fn load_layout(db: &PgPool, layout_id: &str) -> Result<Option<Vec<u8>>, sqlx::Error> {
    sqlx::query_scalar("SELECT body FROM layouts WHERE layout_id = $1")
        .bind(layout_id)
        .fetch_optional(db)
        .await
}

fn read_seat(row: &PgRow) -> Result<Seat, sqlx::Error> {
    let seat_id: String = row.try_get("seat_id")?;
    let right: Option<i32> = row.try_get("right_idx")?;
    let right = right
        .map(|index| {
            u32::try_from(index).map_err(|_| ImpossibleRow {
                table: "venue_seats",
                column: "right_idx",
                id: seat_id.clone(),
            })
        })
        .transpose()?;
    Ok(Seat {
        section: row.try_get("section")?,
        row: row.try_get("row_name")?,
        number: row.try_get("number")?,
        x: row.try_get("x")?,
        y: row.try_get("y")?,
        category: row.try_get("category_id")?,
        accessible: row.try_get("accessible")?,
        companion: row.try_get("companion")?,
        restricted_view: row.try_get("restricted_view")?,
        right,
        seat_id,
    })
}

fn read_area(row: &PgRow) -> Result<Area, sqlx::Error> {
    let area: String = row.try_get("area")?;
    let capacity: i32 = row.try_get("capacity")?;
    let wrong = || ImpossibleRow { table: "venue_areas", column: "capacity", id: area.clone() };
    Ok(Area {
        capacity: u32::try_from(capacity).map_err(|_| wrong())?,
        category: row.try_get("category_id")?,
        area,
    })
}
