/** A request of a client, for which code is made. */
export interface SnippetSource {
  /** What clients call, without a path: `https://llm.example.com`. */
  origin: string
  /** The path, such as `/v1/messages`. */
  endpoint: string
  /** The body, in the format of the endpoint. */
  request: Readonly<Record<string, unknown>>
  /**
   * A real secret, only where it is shown once. Without it, the code reads `TOLLGATE_KEY` of the environment.
   */
  secret?: string | undefined
}

/** Code, or settings, to copy. */
export interface Snippet {
  id: string
  title: string
  text: string
  /** What is to be installed, or where the text belongs. */
  before?: string
}

/** `'it'"'"'s'`: a word of a POSIX shell that nothing in it can leave. */
export function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'"'"'`)}'`
}

const jsName = /^[A-Za-z_$][\w$]*$/

/** A value of JSON as JavaScript has it, by the style of most code: names without quotes, single quotes. */
export function inJs(value: unknown, indent = 0): string {
  if (typeof value === 'string') return jsText(value)
  return nested(value, indent, {
    other: (plain) => JSON.stringify(plain),
    name: (name) => (jsName.test(name) && name !== '__proto__' ? name : `[${jsText(name)}]`),
    value: inJs,
  })
}

function jsText(text: string): string {
  const body = JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"').replaceAll("'", "\\'")
  return `'${body}'`
}

/** A value of JSON as Python has it. */
export function inPython(value: unknown, indent = 0): string {
  if (typeof value === 'string') return JSON.stringify(value)
  return nested(value, indent, {
    other: (plain) =>
      plain === true ? 'True' : plain === false ? 'False' : plain === null ? 'None' : JSON.stringify(plain),
    name: (name) => JSON.stringify(name),
    value: inPython,
  })
}

/** The fields of a request as arguments by name. Names that Python does not take go by `**`. */
export function pythonArguments(fields: Readonly<Record<string, unknown>>): string {
  const entries = Object.entries(fields)
  const named = entries.filter(([name]) => /^[A-Za-z_]\w*$/.test(name))
  const others = entries.filter(([name]) => !/^[A-Za-z_]\w*$/.test(name))
  const lines = named.map(([name, value]) => `    ${name}=${inPython(value, 1)},`)
  if (others.length > 0) lines.push(`    **${inPython(Object.fromEntries(others), 1)},`)
  return lines.join('\n')
}

interface Notation {
  other(plain: unknown): string
  name(name: string): string
  value(value: unknown, indent: number): string
}

function nested(value: unknown, indent: number, notation: Notation): string {
  if (typeof value !== 'object' || value === null) return notation.other(value)
  const isList = Array.isArray(value)
  const items = isList
    ? value.map((item) => notation.value(item, indent + 1))
    : Object.entries(value).map(
        ([name, item]) => `${notation.name(name)}: ${notation.value(item, indent + 1)}`,
      )
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  if (items.length === 0) return `${open}${close}`
  const line = isList ? `[${items.join(', ')}]` : `{ ${items.join(', ')} }`
  if (line.length + indent * 2 <= 76 && !line.includes('\n')) return line
  const pad = '  '.repeat(indent)
  return `${open}\n${items.map((item) => `${pad}  ${item},`).join('\n')}\n${pad}${close}`
}
