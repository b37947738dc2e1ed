-- Trigger of the partitions of closed months: an entry that comes late adds a row to its checkpoint. It changes no row, so it
-- waits for nobody. A shipment books charges before it locks their accounts.
CREATE OR REPLACE FUNCTION count_late_entry() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO entry_checkpoints (month, account_id, sum_nano, entries)
  VALUES (TG_ARGV[0]::date, NEW.account_id, NEW.amount_nano, 1);
  RETURN NULL;
END $$;
