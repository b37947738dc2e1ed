import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseSync } from 'oxc-parser'
import { isRecord } from '../../src/canonical/json.ts'
import type { PlainPlace } from '../../src/protocols/hidden-input.ts'

/** An object of a vendor's format as its SDK declares it. */
interface SdkObject {
  /** The words of its `type`; empty: it has none, or any text. */
  types: string[]
  members: Map<string, SdkType>
  /** Those that may not be absent. */
  required: Set<string>
}

/** A type of a vendor's SDK: of a request, or of a part of one. */
class SdkType {
  readonly #node: Node
  readonly #scope: Scope

  constructor(node: Node, scope: Scope) {
    this.#node = node
    this.#scope = scope
  }

  /** The objects that a value of this type may be or list, each once. */
  objects(): SdkObject[] {
    const found: SdkObject[] = []
    collect(this.#node, this.#scope, { found, seen: new Set() })
    return found
  }

  isNullable(): boolean {
    return isNullable(this.#node, this.#scope)
  }

  /** The texts that a value may be, if only those; null is one of them where it may be null. Undefined: anything else. */
  words(): (string | null)[] | undefined {
    return wordsIn(this.#node, this.#scope)
  }
}

/**
 * What a value lacks of a type: the paths of required members that are absent, and of words that the type has not. Of a union, that
 * counts which has the value's `type`, or lacks least.
 */
export function lacking(type: SdkType, value: unknown, path = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((each, at) => lacking(type, each, `${path}[${at}]`))
  if (!isRecord(value)) {
    const words = typeof value === 'string' || value === null ? type.words() : undefined
    return words === undefined || words.includes(value as string | null) ? [] : [`${path}: ${value}`]
  }
  const all = type.objects()
  const typed = all.filter(({ types }) => types.includes(String(value.type)))
  if (all.length > 0 && typed.length === 0 && all.every(({ types }) => types.length > 0))
    return [`${path}.type: ${value.type}`]
  const each = (typed.length > 0 ? typed : all).map(({ members, required }) => [
    ...[...required]
      // No SDK minds that what may be null is absent.
      .filter((name) => value[name] === undefined && members.get(name)?.isNullable() !== true)
      .map((name) => `${path}.${name}`),
    ...[...members].flatMap(([name, of]) =>
      value[name] === undefined ? [] : lacking(of, value[name], `${path}.${name}`),
    ),
  ])
  return each.toSorted((a, b) => a.length - b.length)[0] ?? []
}

/** A type that a declaration file of a package exports. */
export function sdkType(file: string, name: string): SdkType {
  const scope = moduleOf(join('node_modules', file))
  const declared = scope.find(name)
  if (declared === undefined) throw new Error(`${file} declares no type ${name}`)
  return new SdkType(declared.node, declared.scope)
}

/** The members and types of a request that an SDK has, and the list of plain ones does not; paths without brackets. */
export function beyondPlain(type: SdkType, place: PlainPlace): string[] {
  const found = new Set<string>()
  look(type, place, '', found)
  return [...found].toSorted()
}

function look(type: SdkType, { types, members }: PlainPlace, path: string, found: Set<string>): void {
  for (const object of type.objects()) {
    const unknown = types === undefined ? [] : object.types.filter((word) => !types.includes(word))
    for (const word of unknown) found.add(path + word)
    // A type that is not plain may have any members.
    if (unknown.length > 0) continue
    for (const [name, of] of object.members) {
      const known = name === 'type' && types !== undefined ? 'data' : members[name]
      if (known === undefined) found.add(path + name)
      else if (known !== 'data') look(of, known, `${path}${name}.`, found)
    }
  }
}

type Node = Record<string, unknown>

interface Found {
  found: SdkObject[]
  seen: Set<Node>
}

/** The names that hold in one file, or in a namespace of it. */
class Scope {
  readonly path: string
  readonly #types = new Map<string, Node>()
  readonly #spaces = new Map<string, Scope>()
  readonly #imports = new Map<string, { path: string; name: string | undefined }>()
  readonly #outer: Scope | undefined

  constructor(path: string, statements: readonly Node[], outer?: Scope) {
    this.path = path
    this.#outer = outer
    for (const statement of statements) this.#add(statement)
  }

  #add(statement: Node): void {
    const of = isNode(statement.declaration) ? statement.declaration : statement
    if (of.type === 'TSInterfaceDeclaration' || of.type === 'TSTypeAliasDeclaration')
      this.#types.set(nameOf(of.id), of)
    if (of.type === 'TSModuleDeclaration' && isNode(of.body))
      this.#spaces.set(nameOf(of.id), new Scope(this.path, nodesOf(of.body.body), this))
    if (of.type !== 'ImportDeclaration' || !isNode(of.source)) return
    const from = join(dirname(this.path), String(of.source.value).replace(/\.m?js$/, ''))
    for (const one of nodesOf(of.specifiers)) {
      const isWhole = one.type === 'ImportNamespaceSpecifier'
      this.#imports.set(nameOf(one.local), {
        path: `${from}.d.ts`,
        name: isWhole ? undefined : nameOf(one.imported),
      })
    }
  }

  find(name: string): { node: Node; scope: Scope } | undefined {
    const [first = '', ...rest] = name.split('.')
    if (rest.length > 0) {
      const imported = this.#imports.get(first)
      const inside =
        this.#spaces.get(first) ??
        (imported?.name === undefined ? imported && moduleOf(imported.path) : undefined)
      const found = inside?.find(rest.join('.'))
      return found ?? this.#outer?.find(name)
    }
    const node = this.#types.get(first)
    if (node !== undefined) return { node, scope: this }
    const imported = this.#imports.get(first)
    if (imported?.name !== undefined) return moduleOf(imported.path).find(imported.name)
    return this.#outer?.find(name)
  }
}

const modules = new Map<string, Scope>()

function moduleOf(path: string): Scope {
  const known = modules.get(path)
  if (known !== undefined) return known
  const { program } = parseSync(path, readFileSync(path, 'utf8'))
  const scope = new Scope(path, nodesOf(program.body))
  modules.set(path, scope)
  return scope
}

function collect(node: Node, scope: Scope, into: Found): void {
  if (into.seen.has(node)) return
  into.seen.add(node)
  switch (node.type) {
    case 'TSTypeAliasDeclaration':
    case 'TSParenthesizedType':
      collect(nodeOf(node.typeAnnotation), scope, into)
      break
    case 'TSUnionType':
    case 'TSIntersectionType':
      for (const one of nodesOf(node.types)) collect(one, scope, into)
      break
    case 'TSArrayType':
      collect(nodeOf(node.elementType), scope, into)
      break
    case 'TSTypeReference':
      refer(node, scope, into)
      break
    case 'TSInterfaceDeclaration':
    case 'TSTypeLiteral':
      into.found.push(objectOf(node, scope))
  }
}

/** A name that is not declared is one of the language: of a list, or of a map, whose values have no names. */
function refer(node: Node, scope: Scope, into: Found): void {
  const name = nameOf(node.typeName)
  const found = scope.find(name)
  if (found !== undefined) collect(found.node, found.scope, into)
  else if (name === 'Array' && isNode(node.typeArguments))
    for (const one of nodesOf(node.typeArguments.params)) collect(one, scope, into)
}

function objectOf(node: Node, scope: Scope): SdkObject {
  const members = new Map<string, SdkType>()
  const required = new Set<string>()
  for (const parent of nodesOf(node.extends)) {
    const found = scope.find(nameOf(parent.expression))
    if (found === undefined) continue
    const inherited = objectOf(found.node, found.scope)
    for (const [name, type] of inherited.members) members.set(name, type)
    for (const name of inherited.required) required.add(name)
  }
  const body = isNode(node.body) ? node.body.body : node.members
  let types: string[] = []
  for (const member of nodesOf(body)) {
    if (member.type !== 'TSPropertySignature' || !isNode(member.typeAnnotation)) continue
    const key = nodeOf(member.key)
    const name = key.type === 'Literal' ? String(key.value) : nameOf(key)
    const type = nodeOf(member.typeAnnotation.typeAnnotation)
    members.set(name, new SdkType(type, scope))
    if (member.optional !== true) required.add(name)
    if (name === 'type') types = wordsOf(type)
  }
  return { types, members, required }
}

function isNullable(node: Node, scope: Scope): boolean {
  if (node.type === 'TSNullKeyword' || node.type === 'TSUnknownKeyword') return true
  if (node.type === 'TSUnionType') return nodesOf(node.types).some((one) => isNullable(one, scope))
  const named = node.type === 'TSTypeReference' ? scope.find(nameOf(node.typeName)) : undefined
  if (named?.node.type !== 'TSTypeAliasDeclaration') return false
  return isNullable(nodeOf(named.node.typeAnnotation), named.scope)
}

function wordsIn(node: Node, scope: Scope): (string | null)[] | undefined {
  switch (node.type) {
    case 'TSTypeAliasDeclaration':
    case 'TSParenthesizedType':
      return wordsIn(nodeOf(node.typeAnnotation), scope)
    case 'TSUnionType': {
      const each = nodesOf(node.types).map((one) => wordsIn(one, scope))
      return each.every((one) => one !== undefined) ? each.flat() : undefined
    }
    case 'TSTypeReference': {
      const found = scope.find(nameOf(node.typeName))
      return found === undefined ? undefined : wordsIn(found.node, found.scope)
    }
    case 'TSNullKeyword':
      return [null]
    case 'TSLiteralType': {
      const words = wordsOf(node)
      return words.length === 0 ? undefined : words
    }
  }
}

/** The words of a union of literals. */
function wordsOf(type: Node): string[] {
  if (type.type === 'TSUnionType') return nodesOf(type.types).flatMap(wordsOf)
  const literal = type.type === 'TSLiteralType' && isNode(type.literal) ? type.literal.value : undefined
  return typeof literal === 'string' ? [literal] : []
}

function nameOf(node: unknown): string {
  if (!isNode(node)) return ''
  if (node.type === 'TSQualifiedName') return `${nameOf(node.left)}.${nameOf(node.right)}`
  if (node.type === 'MemberExpression') return `${nameOf(node.object)}.${nameOf(node.property)}`
  return String(node.name)
}

function isNode(value: unknown): value is Node {
  return isRecord(value)
}

function nodeOf(value: unknown): Node {
  return isNode(value) ? value : {}
}

function nodesOf(value: unknown): Node[] {
  return Array.isArray(value) ? value.filter(isNode) : []
}
