// A seats.io chart as the layout document the origin would make of it.

export function readLayout(chart) {
  const categories = chart.categories.list.map(({ key, label }, index) => ({
    id: String(key), name: label, price: 4500 + 2500 * index, currency: "EUR",
  }));
  const seats = chart.subChart.sections.flatMap((section) => section.subChart.rows.flatMap((row) => row.seats.map((seat, index) => ({
    seat_id: `${section.label}-${row.label}-${seat.label}`, section: section.label, row: row.label, number: seat.label,
    x: section.topLeft.x + seat.x, y: section.topLeft.y + seat.y, category: String(section.categoryKey),
    // The sample has no wheelchair places; the pages want to be seen with some.
    accessible: row.label === "A" && index < 4, companion: row.label === "A" && index === 4, restricted_view: false,
  }))));
  return { layout_id: "mock", layout_url: null, seats, areas: [], categories };
}
