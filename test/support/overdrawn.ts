import type { Sql } from 'postgres'

/** Notes every account that holds or owes more than it has, from now on and for however short. Returns what was noted. */
export async function noteOverdrawn(sql: Sql): Promise<() => Promise<object[]>> {
  await sql.unsafe(`
    CREATE TABLE overdrawn (account uuid, balance bigint, held bigint);
    CREATE FUNCTION note_overdrawn() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      INSERT INTO overdrawn VALUES (NEW.id, NEW.balance_nano, NEW.reserved_nano); RETURN NULL; END $$;
    CREATE TRIGGER note_overdrawn AFTER UPDATE ON accounts FOR EACH ROW
      WHEN (NEW.limited AND NEW.balance_nano < NEW.reserved_nano) EXECUTE FUNCTION note_overdrawn()`)
  return async () => [...(await sql`SELECT * FROM overdrawn`)]
}
