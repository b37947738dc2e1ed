import { expect, test } from 'vitest'
import { ImportError } from '../../src/imports/problems.ts'
import { readSqlDump } from '../../src/imports/sql-dump.ts'

const rows = (text: string, table = 't') => readSqlDump(text).get(table)

test('rows of pg_dump: COPY with escapes, --inserts with a schema, casts and E-texts', () => {
  expect(
    rows('COPY public.t (a, "group") FROM stdin;\n1\ttab\\there\n\\N\tback\\\\slash\n\\.\nSELECT 1;\n'),
  ).toEqual([
    { a: '1', group: 'tab\there' },
    { a: null, group: 'back\\slash' },
  ])
  const create =
    "CREATE TABLE public.t (id bigint DEFAULT nextval('x;y'::regclass) NOT NULL, key text, v numeric(5,2), CONSTRAINT c PRIMARY KEY (id));"
  const insert =
    "INSERT INTO public.t VALUES (1, 'it''s; here', -1.5), (2, E'line\\nbreak', '7'::numeric(5,2));"
  expect(rows(`${create}\n${insert}`)).toEqual([
    { id: '1', key: "it's; here", v: '-1.5' },
    { id: '2', key: 'line\nbreak', v: '7' },
  ])
})

test('rows of mysqldump: backticks, backslashes, keys among the columns, many rows in a statement', () => {
  const text = `-- MySQL dump 10.13
/*!40101 SET NAMES utf8 */;
CREATE TABLE \`t\` (
  \`id\` bigint NOT NULL AUTO_INCREMENT,
  \`key\` varchar(191) DEFAULT 'a,b)',
  PRIMARY KEY (\`id\`),
  KEY \`idx\` (\`key\`)
) ENGINE=InnoDB;
INSERT INTO \`t\` VALUES (1,'a\\'b\\\\c\\n'),(2,NULL),(3,_binary 'x');
`
  expect(rows(text)).toEqual([
    { id: '1', key: "a'b\\c\n" },
    { id: '2', key: null },
    { id: '3', key: 'x' },
  ])
})

test('rows of .dump of sqlite3: replace() and unistr() for line breaks', () => {
  const text = `PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE IF NOT EXISTS "t" (\`id\` integer, \`key\` text, PRIMARY KEY (\`id\`));
INSERT INTO t VALUES(1,replace('a\\nb','\\n',char(10)));
INSERT INTO "t" VALUES(2,unistr('c\\u000ad'));
COMMIT;`
  expect(rows(text)).toEqual([
    { id: '1', key: 'a\nb' },
    { id: '2', key: 'c\nd' },
  ])
})

test.each([
  [
    "INSERT INTO t (a) VALUES ('never ends",
    /line 1 of the dump: a text that starts with ' is not terminated/,
  ],
  ["\nINSERT INTO t (a) VALUES ('x'", /line 2 of the dump: expected "\)"/],
  ['INSERT INTO t (a, b) VALUES (1)', /a row of t has 1 values for 2 columns/],
  ['INSERT INTO t VALUES (1)', /have no column names/],
  ['INSERT INTO t (a) SELECT 1', /expected VALUES after INSERT INTO t/],
  ['INSERT INTO t (a) VALUES (pg_read_file(1))', /unknown function pg_read_file/],
  ['COPY t (a) FROM stdin;\n1\n', /the rows of a COPY are not terminated/],
  ['/* never ends', /a comment is not terminated/],
  ["CREATE TABLE t (a text DEFAULT 'x", /is not terminated|ends in the middle/],
  ['SELECT 1;\0', /NUL bytes/],
])('a broken dump is refused with its line: %s', (text, message) => {
  expect(() => readSqlDump(text)).toThrow(ImportError)
  expect(() => readSqlDump(text)).toThrow(message)
})

test('a last statement without its semicolon is read to the end', () => {
  expect(rows("INSERT INTO t (a) VALUES ('1')")).toEqual([{ a: '1' }])
  expect(readSqlDump('SELECT 1').size).toBe(0)
})

test('ten megabytes of quotes end in an error or in rows, not in a hang', () => {
  expect(() => readSqlDump(`INSERT INTO t (a) VALUES (${"'".repeat(10_000_001)}`)).toThrow(ImportError)
  expect(rows(`INSERT INTO t (a) VALUES ('${'x'.repeat(10_000_000)}');`)).toHaveLength(1)
  expect(() => readSqlDump('('.repeat(10_000_000))).not.toThrow()
})
