import { posix } from 'node:path'
import { parseSync } from 'oxc-parser'
import type { Source } from './sources.ts'

/** A node of the tree, as far as this file looks at it. */
export interface Node {
  type: string
  start: number
  end: number
  [key: string]: unknown
}

export interface Call {
  file: string
  node: Node
  /** Its callee as it is written, with `new` where it is one. */
  name: string
  around: Node | undefined
}

/** A function of ours. */
interface Known {
  file: string
  isAsync: boolean
  /** What it runs itself, and does not catch. */
  runs: { node: Node; text: string }[]
  /** Why its caller may get an error, in words. Undefined: nothing that we can see. */
  throws: string | undefined
}

interface Parsed {
  text: string
  functions: Map<string, Node[]>
  /** By the local name: a file of ours or a package, and the name there. */
  imports: Map<string, { from: string; name: string }>
}

/**
 * Code as its text shows it: by names, and without types. A call is known where its name is one of the file, of an import, or of
 * `this`; of another object, where every method of that name throws.
 */
export class Code {
  readonly calls: Call[] = []
  readonly #files = new Map<string, Parsed>()
  /** Of all classes and objects. */
  readonly #methods = new Map<string, Node[]>()
  readonly #known = new Map<Node, Known>()

  constructor(sources: readonly Source[]) {
    for (const source of sources) this.#read(source)
    // What throws makes its callers throw, and theirs.
    for (let isNew = true; isNew; ) {
      isNew = false
      for (const known of this.#known.values()) {
        if (known.throws !== undefined || known.isAsync) continue
        known.throws = this.#reasonOf(known)
        isNew ||= known.throws !== undefined
      }
    }
  }

  textOf(file: string, { start, end }: Node): string {
    return this.#file(file).text.slice(start, end)
  }

  /** Where a function is written. */
  fileOf(of: Node): string {
    return this.#known.get(of)?.file ?? ''
  }

  wholeOf(file: string): string {
    return this.#file(file).text
  }

  /** What comes after it, to the end of the statement or a little further. */
  textAfter(file: string, { end }: Node): string {
    return this.#file(file).text.slice(end, end + 400)
  }

  place(file: string, { start }: Node): string {
    return `${file}:${this.#file(file).text.slice(0, start).split('\n').length}`
  }

  /** What an imported name is, as `node:net connect`. Empty: it is not imported. */
  importOf(file: string, local: string): string {
    const found = this.#file(file).imports.get(local)
    return found === undefined ? '' : `${found.from} ${found.name}`
  }

  /** The functions that a value may be: a function, the name of one, or a call that returns one. None: it comes from elsewhere. */
  functionsOf(file: string, value: Node): Node[] {
    if (isFunction(value)) return [value]
    if (value.type === 'CallExpression') return this.#called(file, value).flatMap(returnedBy)
    return this.#valued(file, value)
  }

  /** Why a call of this function may throw, or its promise reject. Undefined: nothing that we can see. */
  reasonOf(node: Node): string | undefined {
    const known = this.#known.get(node)
    return known === undefined || !known.isAsync ? known?.throws : this.#reasonOf(known)
  }

  #file(file: string): Parsed {
    const parsed = this.#files.get(file)
    if (parsed === undefined) throw new Error(`${file} was not read`)
    return parsed
  }

  #read({ file, text }: Source): void {
    const parsed: Parsed = { text, functions: new Map(), imports: new Map() }
    this.#files.set(file, parsed)
    const name = (map: Map<string, Node[]>, of: Node | undefined, node: Node | undefined) => {
      if (node !== undefined && isFunction(node)) map.set(nameOf(of), [...(map.get(nameOf(of)) ?? []), node])
    }
    walk(parseSync(file, text).program as unknown as Node, undefined, (node, around) => {
      if (isFunction(node)) this.#known.set(node, this.#knownOf(file, node))
      switch (node.type) {
        case 'FunctionDeclaration':
          name(parsed.functions, child(node, 'id'), node)
          break
        case 'VariableDeclarator':
          name(parsed.functions, child(node, 'id'), child(node, 'init'))
          break
        case 'MethodDefinition':
        case 'PropertyDefinition':
        case 'Property':
          if (node.kind !== 'get' && node.kind !== 'set')
            name(this.#methods, child(node, 'key'), child(node, 'value'))
          break
        case 'ImportDeclaration':
          for (const each of children(node, 'specifiers')) {
            const from = nameOf(child(node, 'source'))
            const path = from.startsWith('.') ? posix.join(posix.dirname(file), from) : from
            parsed.imports.set(nameOf(child(each, 'local')), {
              from: path,
              name: nameOf(child(each, 'imported')),
            })
          }
          break
        case 'CallExpression':
        case 'NewExpression':
          this.calls.push({ file, node, name: this.#calleeOf(file, node), around })
          break
      }
    })
  }

  #knownOf(file: string, node: Node): Known {
    const runs: Known['runs'] = []
    const parts = node.generator === true ? [] : [...children(node, 'params'), child(node, 'body')]
    for (const part of parts)
      if (part !== undefined) run(part, (each) => runs.push({ node: each, text: this.#calleeOf(file, each) }))
    return { file, isAsync: node.async === true, runs, throws: undefined }
  }

  #calleeOf(file: string, node: Node): string {
    const callee = child(node, 'callee')
    if (callee === undefined) return ''
    const text = this.textOf(file, callee).replace(/\s+|\?(?=\.)/g, '')
    return node.type === 'NewExpression' ? `new ${text}` : text
  }

  #reasonOf({ file, runs }: Known): string | undefined {
    for (const { node, text } of runs) {
      if (node.type === 'AwaitExpression' || node.type === 'ForOfStatement')
        return `is async, and may reject at ${this.place(file, node)}`
      if (node.type === 'ThrowStatement') return `throws at ${this.place(file, node)}`
      if (throwing.test(text) && !this.textOf(file, node).includes('import.meta'))
        return `calls ${text} at ${this.place(file, node)}`
      const reason = this.#called(file, node).map((each) => this.#known.get(each)?.throws)
      const [first] = reason
      const callee = child(node, 'callee')
      const isNamed = callee?.type === 'Identifier' || isOwn(callee)
      const isSure = isNamed
        ? reason.some((each) => each !== undefined)
        : reason.every((each) => each !== undefined)
      if (isSure && reason.length > 0)
        return `calls ${text} at ${this.place(file, node)}, which ${first ?? reason.find(Boolean)}`
    }
    return undefined
  }

  #called(file: string, node: Node): Node[] {
    const callee = node.type === 'CallExpression' ? child(node, 'callee') : undefined
    if (callee === undefined) return []
    if (callee.type !== 'MemberExpression' || isOwn(callee)) return this.#valued(file, callee)
    const name = nameOf(child(callee, 'property'))
    return elsewhere.has(name) ? [] : (this.#methods.get(name) ?? [])
  }

  /** A name, or a method of `this`. */
  #valued(file: string, value: Node): Node[] {
    if (value.type === 'MemberExpression') {
      if (!isOwn(value)) return []
      const methods = this.#methods.get(nameOf(child(value, 'property'))) ?? []
      return methods.filter((each) => this.#known.get(each)?.file === file)
    }
    const { functions, imports } = this.#file(file)
    const own = functions.get(nameOf(value))
    if (own !== undefined) return own
    const imported = imports.get(nameOf(value))
    if (imported === undefined) return []
    return this.#files.get(imported.from)?.functions.get(imported.name) ?? []
  }
}

function isOwn(member: Node | undefined): boolean {
  return member !== undefined && child(member, 'object')?.type === 'ThisExpression'
}

/** Of Node and JavaScript. */
const throwing =
  /^(JSON\.parse|decodeURI(Component)?|new URL|BigInt|structuredClone|\w+Sync|.*\.(writeHead|setHeader))$/

/** Methods of Node's own objects, collections and promises, which ours have the names of too. */
const elsewhere: ReadonlySet<string> = new Set(
  'add at call catch clear close concat copy delete destroy emit end entries exec fill find get has includes join keys kill map match next on once pause pop parse push read replace set slice splice split start test then toString unref values write'.split(
    ' ',
  ),
)

const endsEarly: ReadonlySet<string> = new Set([
  'ThrowStatement',
  'CallExpression',
  'NewExpression',
  'AwaitExpression',
])

/** They call what they are given before they return. */
const atOnce: ReadonlySet<string> = new Set(
  'every filter find findIndex findLast flatMap forEach map reduce some sort toSorted'.split(' '),
)

function walk(
  node: Node,
  around: Node | undefined,
  visit: (node: Node, around: Node | undefined) => void,
): void {
  visit(node, around)
  each(node, (inner) => walk(inner, node, visit))
}

/** What runs and is not caught, without the functions in it, except those that are called at once. */
function run(node: Node, found: (node: Node) => void): void {
  if (isFunction(node)) return
  if (endsEarly.has(node.type) || (node.type === 'ForOfStatement' && node.await === true)) found(node)
  const handler = node.type === 'TryStatement' ? child(node, 'handler') : undefined
  const callee = node.type === 'CallExpression' ? child(node, 'callee') : undefined
  const isAtOnce = callee?.type === 'MemberExpression' && atOnce.has(nameOf(child(callee, 'property')))
  each(node, (inner) => {
    if (handler !== undefined && inner === node.block) return
    const body = isAtOnce && isFunction(inner) && inner.async !== true ? child(inner, 'body') : undefined
    run(body ?? inner, found)
  })
}

function returnedBy(maker: Node): Node[] {
  const found: Node[] = []
  const body = child(maker, 'body')
  const add = (value: Node | undefined) => value !== undefined && isFunction(value) && found.push(value)
  add(body)
  for (const statement of body === undefined ? [] : children(body, 'body'))
    if (statement.type === 'ReturnStatement') add(child(statement, 'argument'))
  return found
}

function isFunction({ type }: Node): boolean {
  return type === 'ArrowFunctionExpression' || type === 'FunctionExpression' || type === 'FunctionDeclaration'
}

/** Of an identifier, or a text. */
export function nameOf(node: Node | undefined): string {
  const name = node?.name ?? node?.value
  return typeof name === 'string' ? name : ''
}

export function child(node: Node, key: string): Node | undefined {
  const value = node[key]
  return isNode(value) ? value : undefined
}

export function children(node: Node, key: string): Node[] {
  const value = node[key]
  return Array.isArray(value) ? value.filter(isNode) : []
}

function each(node: Node, visit: (inner: Node) => void): void {
  for (const key in node) {
    const value = node[key]
    if (Array.isArray(value)) {
      for (const inner of value) if (isNode(inner)) visit(inner)
    } else if (isNode(value)) visit(value)
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}
