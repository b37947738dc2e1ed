import { invalid } from '../canonical/field-error.ts'
import type { Json } from '../canonical/json.ts'
import { checkAwsKeys, namesFile } from './credential-files.ts'
import { EntryReader, type Sections } from './entry-reader.ts'
import { type ChannelEntry, channelEntry, type ModelEntry } from './gateway-file.ts'
import { modelEntry } from './model-entry.ts'
import type { AllRows } from './queries.ts'
import { readConnection, type TimeoutBounds } from './read-connection.ts'
import { checkAliases, checkNames, checkReferences } from './references.ts'
import { type Path, renderPath } from './yaml-source.ts'

// Entries sent by an admin are checked like those of gateway.yaml, against the entries in the database.

/** Whether an entry counts: it is in force, or an admin has disabled it and can enable it again. */
const counts = (row: { disabledAt: Date | null; managedBy: string }) =>
  row.disabledAt === null || row.managedBy === 'admin'

/** Throws GatewayError `invalid_request` that names the invalid field. */
export function checkModel(words: Json, rows: AllRows): ModelEntry {
  const reader = new EntryReader(sourceOf(words))
  const sections = sectionsOf(rows)
  const before = others(rows.models, 'id', words.id).map(named)
  sections.models = [...before, words]
  const path = ['models', before.length]
  const [read] = reader.entries('models', [words], modelEntry, before.length)
  checkNames(reader, sections)
  checkAliases(reader, sections)
  if (read !== undefined)
    checkReferences(reader, sections, { ...noEntries, models: [{ entry: read.entry, path }] })
  return entryOf(reader, path, read?.entry)
}

/**
 * `name` is the current name of the channel. Throws GatewayError `invalid_request` that names the invalid
 * field.
 */
export function checkChannel(
  words: Json,
  rows: AllRows,
  { name, bounds }: { name: string | undefined; bounds: TimeoutBounds },
): ChannelEntry {
  for (const setting of ['ca_file', 'cert_file', 'key_file']) {
    const text = setting.replace('_file', '')
    if (setting in words)
      throw invalid(setting, `can only be used in gateway.yaml; send the content as "${text}" instead`)
  }
  const reader = new EntryReader(sourceOf(words))
  const sections = sectionsOf(rows)
  const before = others(rows.channels, 'name', name)
  sections.channels = [...before, words]
  const path = ['channels', before.length]
  const [read] = reader.entries('channels', [words], channelEntry, before.length)
  checkNames(reader, sections)
  if (read === undefined) return entryOf<ChannelEntry>(reader, path, undefined)
  const { connection: draft, ...rest } = read.entry
  // Without this check, a user who can change channels could send this machine's files to their own upstream.
  rest.credentials.forEach((credential, index) => {
    if (namesFile(credential))
      reader.report(
        [...path, 'api_keys', index],
        'is a file reference, which only gateway.yaml can contain; send the credential itself',
      )
  })
  checkAwsKeys(reader, { entry: read.entry, path })
  checkReferences(reader, sections, { ...noEntries, channels: [{ entry: rest, path }] })
  const connection = readConnection(reader, { entry: read.entry, path }, { readFile: notHere, bounds })
  return entryOf(reader, path, { ...rest, ...(connection !== undefined && { connection }) })
}

const noEntries = { models: [], channels: [], groups: [], tenants: [] }

/** Contains only the names of the entries that others can refer to. */
function sectionsOf({ models, channels }: AllRows): Sections {
  return {
    models: models.filter(counts).map(named),
    channels: channels.filter(counts),
    groups: [],
    tenants: [],
  }
}

function others<Row extends { disabledAt: Date | null; managedBy: string }>(
  rows: readonly Row[],
  property: keyof Row,
  own: unknown,
): Row[] {
  return rows.filter((row) => counts(row) && row[property] !== own)
}

function named({ id, aliases }: AllRows['models'][number]) {
  return { id, aliases }
}

/** A source without a file: problems are identified by their paths, not by lines. */
function sourceOf(words: Json) {
  return {
    data: words,
    problems: [],
    lineOf: () => 0,
    has: ([, , ...path]: Path) => {
      let value: unknown = words
      for (const part of path) {
        if (typeof value !== 'object' || value === null || !Object.hasOwn(value, part)) return false
        value = new Map(Object.entries(value)).get(String(part))
      }
      return true
    },
  }
}

/** Throws the first problem of the entry. */
function entryOf<Entry>(reader: EntryReader, [section, index]: Path, entry: Entry | undefined): Entry {
  const own = reader.problems.find(({ path }) => path[0] === section && path[1] === index)
  if (own !== undefined) {
    const [, , ...field] = own.path
    throw invalid(field.length === 0 ? 'body' : renderPath(field), own.message)
  }
  if (entry === undefined) throw invalid('body', 'is not valid')
  return entry
}

function notHere(): never {
  throw new Error('files cannot be read here')
}
