import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { type ErrorKind, GatewayError } from '../src/canonical/error.ts'
import { readGatewayYaml } from '../src/catalog/gateway-yaml.ts'
import { readConfig } from '../src/config.ts'
import { clientSide } from '../src/protocols/index.ts'

/** Holds what the documents say against the code, so that they cannot drift apart. */

const root = resolve(import.meta.dirname, '..')
const operations = read('docs/operations.md')
const readme = read('README.md')
const architecture = read('docs/architecture.md')
const documents = ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', ...globSync('docs/**/*.md', { cwd: root })]

describe('the environment in docs/operations.md', () => {
  const { bounds, ...settings } = readConfig({})
  const defaults = Object.fromEntries(
    Object.entries({ ...settings, ...bounds }).map(([name, value]) => [variableOf(name), value]),
  )
  const documented = rowsOf(section(operations, 'Environment')).map(([variable = '', value = '']) => ({
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

  test('has the names by which wrong values are refused', () => {
    for (const { variable } of documented) {
      if (typeof defaults[variable] !== 'number') continue
      expect(() => readConfig({ [variable]: 'many' })).toThrow(`  ${variable}: `)
    }
  })

  test('a variable that the README mentions is one of them', () => {
    for (const [cell = '', value = ''] of rowsOf(section(readme, 'Settings'))) {
      const values = value.split(', ')
      for (const [index, variable] of cell.split(', ').entries()) {
        expect(documented).toContainEqual({ variable, value: values[index] })
      }
    }
  })
})

describe('the errors in docs/operations.md', () => {
  // A record, so that the compiler asks for a new kind here.
  const kinds: Record<ErrorKind, true> = {
    invalid_request: true,
    unsupported_parameter: true,
    unauthenticated: true,
    permission_denied: true,
    insufficient_credit: true,
    unknown_path: true,
    model_not_found: true,
    endpoint_not_supported: true,
    request_too_large: true,
    request_in_progress: true,
    idempotency_mismatch: true,
    rate_limited: true,
    upstream_error: true,
    upstream_overloaded: true,
    upstream_timeout: true,
    content_filtered: true,
    unavailable: true,
    internal: true,
  }

  test('are those that clients get', () => {
    const sent = Object.keys(kinds).map((kind) => {
      const error = new GatewayError(kind as ErrorKind, 'a message')
      const { status, body } = clientSide('openai-chat').encodeError(error, 'a request id')
      const { type, code } = (body as { error: { type: string; code: string | null } }).error
      const messages = clientSide('anthropic-messages').encodeError(error, 'a request id')
      const messagesType = (messages.body as { error: { type: string } }).error.type
      return [kind, String(status), type, code ?? 'none', String(messages.status), messagesType]
    })
    const documented = rowsOf(section(operations, 'Errors')).map((cells) => cells.slice(0, 6))
    expect(documented.sort()).toEqual(sent.sort())
  })
})

describe('docs/architecture.md', () => {
  test('has every part of src in its tree', () => {
    const tree = section(architecture, 'The tree')
    for (const name of readdirSync(join(root, 'src'))) {
      expect(tree, `src/${name} is not in the tree`).toMatch(
        new RegExp(`^  ${name.replace('.', '\\.')}/?\\s`, 'm'),
      )
    }
  })

  test('names only files that are there', () => {
    let folder = ''
    for (const line of section(architecture, 'The tree').split('\n')) {
      folder = /^ {2}(\w+)\/ /.exec(line)?.[1] ?? (/^ {2}\S/.test(line) ? '' : folder)
      for (const [name] of line.matchAll(/[\w-]+\.ts\b/g)) {
        expect(existsSync(join(root, 'src', folder, name)), `src/${folder}/${name} is not there`).toBe(true)
      }
    }
  })

  test('stays short enough to be read', () => {
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

test('every link between documents leads somewhere', () => {
  for (const document of documents) {
    for (const [, target = ''] of read(document).matchAll(/\]\(([^)#]+)[^)]*\)/g)) {
      if (/^https?:/.test(target)) continue
      const path = join(root, dirname(document), target)
      expect(existsSync(path), `${document} links to ${target}, which is not there`).toBe(true)
    }
  }
})

test('every script that a document names is in package.json', () => {
  const { scripts }: { scripts: Record<string, string> } = JSON.parse(read('package.json'))
  for (const document of documents) {
    for (const [, name = ''] of read(document).matchAll(/npm run ([\w:]+)/g)) {
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

/** From a second-level heading to the next. */
function section(text: string, heading: string): string {
  return new RegExp(`^## ${heading}\\n([\\s\\S]*?)(?=^## |$(?![\\s\\S]))`, 'm').exec(text)?.[1] ?? ''
}

/** Cells of all tables, without backticks; heads and rules left out. */
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
