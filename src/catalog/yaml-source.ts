import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, type Scalar } from 'yaml'

/** The data of a YAML text, and the line number of each part. */
export interface YamlSource {
  data: unknown
  problems: YamlProblem[]
  /** Returns the line of the value at a path, or of the nearest existing ancestor. Lines start at 1. */
  lineOf(path: Path): number
  has(path: Path): boolean
}

export type Path = readonly (string | number)[]

export interface YamlProblem {
  path: Path
  line: number
  message: string
}

/**
 * Parses one YAML document and replaces `${NAME}` in strings with the value of the environment variable;
 * `$${` is an escaped `${`. An unset or empty variable is reported as a problem, like any YAML error. Never
 * throws.
 */
export function readYaml(text: string, env: Record<string, string | undefined>): YamlSource {
  const counter = new LineCounter()
  const document = parseDocument(text, { lineCounter: counter, prettyErrors: false })
  const lineAt = (offset: number) => Math.max(1, counter.linePos(offset).line)
  const lines = new Map<string, number>()
  const problems: YamlProblem[] = [...document.errors, ...document.warnings].map((error) => ({
    path: [],
    line: lineAt(error.pos[0]),
    message: lowerFirst(error.message),
  }))
  let aliasesLeft = aliasesMax

  function read(node: unknown, path: Path): unknown {
    if (isAlias(node)) {
      // Every use counts, because aliases of aliases, or of themselves, could otherwise expand without end.
      if (--aliasesLeft < 0) {
        if (aliasesLeft === -1) problems.push(problem(node, [], `uses more than ${aliasesMax} aliases`))
        return undefined
      }
      return read(node.resolve(document), path)
    }
    lines.set(keyOf(path), offsetLine(node))
    if (isMap(node)) {
      return Object.fromEntries(
        node.items.map((pair) => {
          const name = String(isScalar(pair.key) ? pair.key.value : pair.key)
          const value = read(pair.value, [...path, name])
          // The key's line is the best position for an absent value and for a nested block.
          if (!isScalar(pair.value)) lines.set(keyOf([...path, name]), offsetLine(pair.key))
          return [name, value]
        }),
      )
    }
    if (isSeq(node)) return node.items.map((item, index) => read(item, [...path, index]))
    if (isScalar(node)) return readScalar(node, path)
    return null
  }

  function readScalar(node: Scalar, path: Path): unknown {
    if (typeof node.value === 'number' && significantDigits(node.source ?? '') > 15) {
      problems.push(problem(node, path, 'must be quoted, because a number keeps at most 15 digits'))
    }
    if (typeof node.value !== 'string') return node.value
    return node.value.replace(/\$(\$?)\{([^}]*)\}/g, (whole, dollar: string, name: string) => {
      if (dollar !== '') return whole.slice(1)
      const isName = /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
      const value = isName ? env[name] : undefined
      if (value !== undefined && value !== '') return value
      // Not repeated in the message, because it may be part of a secret.
      const message = isName
        ? `needs the environment variable ${name}, which is not set`
        : 'contains ${ without a variable name after it; write $${ for a literal ${'
      problems.push(problem(node, path, message))
      return whole
    })
  }

  const offsetLine = (node: unknown) => lineAt((node as Node | null | undefined)?.range?.[0] ?? 0)
  const problem = (node: unknown, path: Path, message: string) => ({ path, line: offsetLine(node), message })

  const data = document.errors.length > 0 ? undefined : read(document.contents, [])
  return {
    data,
    problems,
    has: (path) => lines.has(keyOf(path)),
    lineOf(path) {
      for (let length = path.length; length > 0; length--) {
        const line = lines.get(keyOf(path.slice(0, length)))
        if (line !== undefined) return line
      }
      return 1
    },
  }
}

/** For example `tenants[0].keys[1].group`. */
export function renderPath(path: Path): string {
  return path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text === '' ? part : `${text}.${part}`),
    '',
  )
}

const aliasesMax = 1000

const keyOf = (path: Path) => JSON.stringify(path)

const significantDigits = (source: string) => source.replace(/^[^1-9]*/, '').replace(/[^0-9]/g, '').length

const lowerFirst = (text: string) => text.slice(0, 1).toLowerCase() + text.slice(1)
