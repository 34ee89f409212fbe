-- The session that ordered: every answer to it that shows the order confirmed tells the edge to end it, since the first
-- may never arrive. Orders from before have none.
ALTER TABLE orders ADD COLUMN sid text;
ALTER TABLE orders DROP COLUMN shown;
