import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { z } from 'zod'
import { apiEndpoints } from '../src/api/endpoints.ts'
import { reasonParts } from '../src/canonical/reasons/catalogue.ts'
import { errorKinds } from '../src/canonical/reasons/kinds.ts'
import { channelEntry, groupEntry, pricesEntry, revision, tenantEntry } from '../src/catalog/gateway-file.ts'
import { readGatewayYaml } from '../src/catalog/gateway-yaml.ts'
import { modelEntry } from '../src/catalog/model-entry.ts'
import { traitEntry } from '../src/catalog/trait-entry.ts'
import { readConfig } from '../src/config/config.ts'
import { modelEndpoints } from '../src/pipeline/endpoints.ts'
import { clientSide } from '../src/protocols/index.ts'
import { declared, seriesMax } from '../src/telemetry/metrics/declarations.ts'
import { errorOfKind } from './support/error-of-kind.ts'
import { reasonsPage, runbookReasons } from './support/reasons-page.ts'
import { unused } from './support/unused.ts'

/** Compares the documents with the code, so that they stay true. */

const root = resolve(import.meta.dirname, '..')
const configuration = read('docs/reference/configuration.md')
const readme = read('README.md')
const architecture = read('docs/architecture.md')
const documents = [
  'README.md',
  'CONTRIBUTING.md',
  'CHANGELOG.md',
  'SECURITY.md',
  ...globSync('docs/**/*.md', { cwd: root }),
]

describe('the environment in docs/reference/configuration.md', () => {
  const { bounds, ...settings } = readConfig({})
  const defaults = Object.fromEntries(
    Object.entries({ ...settings, ...bounds }).map(([name, value]) => [variableOf(name), value]),
  )
  const documented = rowsOf(section(configuration, 'Environment')).map(([variable = '', value = '']) => ({
    variable,
    value,
  }))

  test('names every variable once and no other', () => {
    expect(documented.map(({ variable }) => variable).sort()).toEqual(Object.keys(defaults).sort())
  })

  test('gives the default that the code has', () => {
    for (const { variable, value } of documented) {
      const held = defaults[variable]
      expect(value, `default of ${variable}`).toBe(held === undefined ? 'none' : String(held))
    }
  })

  test('has the names that the errors about wrong values use', () => {
    for (const { variable } of documented) {
      if (typeof defaults[variable] !== 'number') continue
      expect(() => readConfig({ [variable]: 'many' })).toThrow(`  ${variable}: `)
    }
  })

  test.each(documents)('has every variable that %s names', (document) => {
    const named = [...read(document).matchAll(/`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?:=[^`]*)?`/g)]
    for (const [, name = ''] of named) {
      expect([...Object.keys(defaults), ...othersVariables], `${document} names ${name}`).toContain(name)
    }
  })
})

/** Variables of other programs, of the command `tollgate`, and of examples. */
const othersVariables = [
  'ANTHROPIC_API_KEY',
  'ANTHROPIC_AUTH_TOKEN',
  'ANTHROPIC_BASE_URL',
  'ANTHROPIC_DEFAULT_HAIKU_MODEL',
  'ANTHROPIC_DEFAULT_OPUS_MODEL',
  'ANTHROPIC_DEFAULT_SONNET_MODEL',
  'ANTHROPIC_MODEL',
  'AWS_ACCESS_KEY_ID',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
  'AWS_EC2_METADATA_SERVICE_ENDPOINT',
  'AWS_ENDPOINT_URL_STS',
  'AWS_PROFILE',
  'AWS_ROLE_ARN',
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'CLAUDE_CODE_MAX_CONTEXT_TOKENS',
  'ENABLE_OLLAMA_API',
  'LITELLM_LOCAL_MODEL_COST_MAP',
  'NODE_COMPILE_CACHE',
  'NODE_EXTRA_CA_CERTS',
  'NO_COLOR',
  'OFFLINE_MODE',
  'OPENAI_API_BASE',
  'OPENAI_API_BASE_URL',
  'OPENAI_API_KEY',
  'OPENAI_BASE_URL',
  'SIMULATOR_DEATHS',
  'SIMULATOR_SEED',
  'SIMULATOR_TRACE',
  'SO_REUSEPORT',
  'SSL_CERT_FILE',
  'TEST_CONTAINERS',
  'TEST_DATABASE_URL',
  'TEST_SEED',
  'TOLLGATE_KEY',
  'TOLLGATE_TOKEN',
  'TOLLGATE_URL',
]

describe('gateway.yaml in docs/reference/configuration.md', () => {
  const schemas = { models: modelEntry, channels: channelEntry, groups: groupEntry, tenants: tenantEntry }
  const settings = [
    ...settingsIn('revision', z.toJSONSchema(revision)),
    ...settingsIn('prices', z.toJSONSchema(pricesEntry, { io: 'input', unrepresentable: 'any' })),
    ...settingsIn('traits', z.toJSONSchema(traitEntry, { io: 'input', unrepresentable: 'any' })),
    ...Object.entries(schemas).flatMap(([name, schema]) =>
      settingsIn(`${name}[]`, z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })),
    ),
  ]
  const documented = rowsOf(section(configuration, 'gateway.yaml'))

  test('has every setting once and no other', () => {
    expect(documented.map(([setting]) => setting).sort()).toEqual(
      settings.map(({ setting }) => setting).sort(),
    )
  })

  test('gives the default that the code has', () => {
    for (const { setting, value } of settings) {
      const [, stated] = documented.find(([name]) => name === setting) ?? []
      // The schema hides the default of a setting with a transform.
      if (value !== 'none') expect(stated, `default of ${setting}`).toBe(value)
    }
  })
})

/** All settings, by path. */
function settingsIn(
  path: string,
  schema: JsonSchema,
  required = false,
): { setting: string; value: string }[] {
  if (typeof schema === 'boolean') return []
  const { properties, items, default: value = required ? 'required' : 'none' } = schema
  if (isElement(items)) return settingsIn(`${path}[]`, items)
  // A section of its own names the traits: they are the same in all places.
  if (properties === undefined || path.endsWith('].traits')) {
    return [{ setting: path, value: typeof value === 'string' ? value : JSON.stringify(value) }]
  }
  return Object.entries(properties).flatMap(([name, one]) =>
    settingsIn(`${path}.${name}`, one, schema.required?.includes(name)),
  )
}

type JsonSchema = z.core.JSONSchema._JSONSchema

/** The schema of a list's elements, if they have settings. */
function isElement(items: JsonSchema | JsonSchema[] | undefined): items is z.core.JSONSchema.JSONSchema {
  return typeof items === 'object' && !Array.isArray(items) && items.properties !== undefined
}

describe('docs/reference/endpoints.md', () => {
  const endpoints = read('docs/reference/endpoints.md')

  test('has every endpoint that models answer, with its format', () => {
    const known = modelEndpoints.map(({ method, path, protocol }) => [`${method} ${path}`, protocol])
    const documented = rowsOf(section(endpoints, 'Answered by models')).map((cells) => cells.slice(0, 2))
    expect(documented.sort()).toEqual(known.sort())
  })

  test('has every endpoint of our own', () => {
    const documented = rowsOf(section(endpoints, 'Our own')).map(([call]) => call)
    expect(documented.sort()).toEqual(own.map(({ method, path }) => `${method} ${path}`).sort())
  })
})

test('docs/reference/usage-log.md has the parameters of each call', () => {
  const usageLog = read('docs/reference/usage-log.md')
  // The text says that each filter has one with `not_` before its name.
  const calls = new Map(
    own.map(({ method, path, query }) => [
      `${method} ${path}`,
      Object.keys(query.shape).filter(
        (name, _, all) => !all.includes(name.replace(/^not_/, '')) || !name.startsWith('not_'),
      ),
    ]),
  )
  const documented = usageLog
    .split('\n')
    .flatMap((line) => /^\| `(GET [^`]+)` .*\| ([^|]*) \|$/.exec(line)?.slice(1, 3) ?? [])
  for (let at = 0; at < documented.length; at += 2) {
    const [call = '', parameters = ''] = documented.slice(at, at + 2)
    const named = [...parameters.matchAll(/`(\w+)`/g)].map(([, name]) => name)
    expect(named.sort(), call).toEqual(calls.get(call)?.sort())
  }
  expect(documented).toHaveLength(8)
})

const own = apiEndpoints(unused as Parameters<typeof apiEndpoints>[0]).filter(
  ({ guard }) => guard !== 'admin',
)

test('docs/reference/metrics.md has the list of metrics, and a bound on their series that holds', () => {
  const metrics = read('docs/reference/metrics.md')
  const listed = Object.values(declared).map(({ name, type, labels, help }) => [
    name,
    type,
    labels.join(', '),
    help,
  ])
  expect(rowsOf(section(metrics, 'What is counted'))).toEqual(listed)
  const bound = Number(/: (\d+) from one answer at most/.exec(metrics)?.[1])
  expect(seriesMax).toBeLessThanOrEqual(bound)
  expect(seriesMax).toBeGreaterThan(bound * 0.8)
})

describe('the errors in docs/reference/errors.md', () => {
  test('are those that clients get', () => {
    const sent = errorKinds.map((kind) => {
      const error = errorOfKind(kind, 'a message')
      const { status, body } = clientSide('openai-chat').encodeError(error, 'a request id')
      const { type, code } = (body as { error: { type: string; code: string | null } }).error
      const messages = clientSide('anthropic-messages').encodeError(error, 'a request id')
      const messagesType = (messages.body as { error: { type: string } }).error.type
      return [
        kind,
        String(status),
        type,
        kind === 'invalid_request' && code === error.reason ? 'the reason' : code,
        String(messages.status),
        messagesType,
      ]
    })
    const [head = '', forMessages = ''] = read('docs/reference/errors.md').split('The Messages format has')
    const [toDo = '', types = ''] = head.split('## Types and codes')
    const statuses = new Map(rowsOf(toDo).map(([kind, status]) => [kind, status]))
    const inMessages = new Map(rowsOf(forMessages).map(([kind, ...cells]) => [kind, cells]))
    const documented = rowsOf(types).map(([kind, ...cells]) => [
      kind,
      statuses.get(kind),
      ...cells,
      ...(inMessages.get(kind) ?? []),
    ])
    expect(statuses.size).toBe(sent.length)
    expect(documented.sort()).toEqual(sent.sort())
  })
})

test('docs/reference/reasons.md is made from the catalogue', async () => {
  await expect(reasonsPage(reasonParts, runbookReasons(read('docs/runbook.md')))).toMatchFileSnapshot(
    join(root, 'docs/reference/reasons.md'),
  )
})

test.each(['docs/architecture.md', 'CONTRIBUTING.md'])('%s names only paths that exist', (document) => {
  const text = read(document)
  const files = text.matchAll(/(?<![\w/.])[a-z][\w-]*(?:\/[\w.-]+)+\.ts\b/g)
  const folders = text.matchAll(
    /(?<=`|\s)(?:src|test|console|workers|bench|docs)(?:\/[\w.-]+)+\/?(?=[`\s,.:])/g,
  )
  for (const [path] of [...files, ...folders]) {
    // Made by the build of the pages.
    if (/^console\/dist\b/.test(path)) continue
    const places = [path, join('src', path)].filter((place) =>
      existsSync(join(root, place.replace(/\.$/, ''))),
    )
    expect(places, `${path} is not there`).not.toEqual([])
  }
})

describe('docs/architecture.md', () => {
  test('shows every part of src in its tree', () => {
    const tree = section(architecture, 'The tree')
    for (const name of readdirSync(join(root, 'src'))) {
      expect(tree, `src/${name} is not in the tree`).toMatch(
        new RegExp(`^  ${name.replace('.', '\\.')}/?\\s`, 'm'),
      )
    }
  })

  test('names only files that exist', () => {
    let folder = ''
    for (const line of section(architecture, 'The tree').split('\n')) {
      folder = /^ {2}(\w+)\/ /.exec(line)?.[1] ?? (/^ {2}\S/.test(line) ? '' : folder)
      for (const [name] of line.matchAll(/[\w-]+\.ts\b/g)) {
        expect(existsSync(join(root, 'src', folder, name)), `src/${folder}/${name} is not there`).toBe(true)
      }
    }
  })

  test('stays short', () => {
    expect(architecture.split('\n').length).toBeLessThan(220)
  })
})

test.each(['README.md', 'gateway.example.yaml'])('the configuration in %s is accepted', (path) => {
  const text = path === 'README.md' ? (/```yaml\n([\s\S]*?)```/.exec(readme)?.[1] ?? '') : read(path)
  const env = Object.fromEntries(
    [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name]) => [name, `a-secret-for-${name}`]),
  )
  expect(readGatewayYaml(text, { path, env }).models.length).toBeGreaterThan(0)
})

describe('the lists of documents', () => {
  const index = 'README.md'
  const pages = globSync('**/*.md', { cwd: join(root, 'docs') }).sort()
  const contents: { title: string; pages: string[] }[] = JSON.parse(read('docs/contents.json'))

  test('docs/contents.json has every document once', () => {
    expect(contents.flatMap(({ pages }) => pages).sort()).toEqual(pages)
  })

  test('docs/README.md has the same documents in the same order under the same headings', () => {
    const listed = contents.map(({ title, pages }) => ({
      title,
      pages: pages.filter((page) => page !== index),
    }))
    const groups = read('docs/README.md').split(/^## /m).slice(1)
    const linked = groups.map((group) => ({
      title: group.split('\n')[0],
      pages: [...group.matchAll(/^- \[[^\]]+\]\(([^)]+)\)/gm)].map(([, page]) => page),
    }))
    expect(linked).toEqual(listed)
  })
})

test('every link between documents leads somewhere', () => {
  for (const document of documents) {
    for (const [, path = '', anchor] of read(document).matchAll(/\]\(([^)#]*)(?:#([^)]*))?\)/g)) {
      if (/^https?:/.test(path)) continue
      const target = path === '' ? document : join(dirname(document), path)
      expect(existsSync(join(root, target)), `${document} links to ${target}, which is not there`).toBe(true)
      if (anchor === undefined) continue
      expect(anchorsIn(target), `${document} links to ${anchor} in ${target}`).toContain(anchor)
    }
  }
})

/** The anchors that GitHub makes of headings. */
function anchorsIn(document: string): string[] {
  return [...read(document).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

test('every script that a document names is in package.json', () => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'))
  for (const document of documents) {
    for (const [, name = ''] of read(document).matchAll(/npm run ([\w:-]+)/g)) {
      expect(Object.keys(scripts), `${document} names npm run ${name}`).toContain(name)
    }
  }
})

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** `upstreamIdleMs` -> `UPSTREAM_IDLE_MS` */
function variableOf(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()
}

/** The text from a second-level heading to the next. */
function section(text: string, heading: string): string {
  return new RegExp(`^## ${heading}\\n([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, 'm').exec(text)?.[1] ?? ''
}

/** The cells of all tables, without backticks, table heads and rules. */
function rowsOf(text: string): string[][] {
  return text
    .split('\n')
    .filter((line, index, lines) => line.startsWith('| ') && !/^\| ?-/.test(lines[index + 1] ?? ''))
    .filter((line) => !/^\| ?-/.test(line))
    .map((line) =>
      line
        .slice(2)
        .split(' |')
        .map((cell) => cell.trim().replaceAll('`', '')),
    )
    .map((cells) => cells.slice(0, -1))
}
