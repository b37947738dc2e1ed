import { type Argument, type Class, parseSync, Visitor } from 'oxc-parser'

export interface FunctionLength {
  /** The name that its place gives it; of a callback, the function that it is given to: `.map(...)`. */
  name: string
  file: string
  line: number
  /** From its first line to its last, with the functions inside. */
  lines: number
}

/** Every function of a file of TypeScript or JavaScript, in the order of the text. */
export function functionsOf(file: string, text: string): FunctionLength[] {
  const found: FunctionLength[] = []
  /** By the place where a function starts. What is around a function is visited before it. */
  const names = new Map<number, string>()
  const name = ({ start }: Node, value: string) => names.set(start, value)
  const add = (node: Node & { id?: { name: string } | null }) =>
    found.push({
      name: node.id?.name ?? names.get(node.start) ?? 'anonymous',
      file,
      line: linesIn(text.slice(0, node.start)),
      lines: linesIn(text.slice(node.start, node.end)),
    })
  const nameMembers = ({ id, body }: Class) => {
    for (const member of body.body)
      if ('value' in member && member.value) {
        const key = textOf(text, member.key)
        name(member.value, id ? `${id.name}.${key}` : key)
      }
  }
  const nameCallbacks = (callee: string, given: Argument[]) => {
    for (const argument of given) name(argument, `${callee}(...)`)
  }
  new Visitor({
    FunctionDeclaration: add,
    FunctionExpression: add,
    ArrowFunctionExpression: add,
    ClassDeclaration: nameMembers,
    ClassExpression: nameMembers,
    ExportDefaultDeclaration: ({ declaration }) => name(declaration, 'default'),
    VariableDeclarator: ({ id, init }) => init && id.type === 'Identifier' && name(init, id.name),
    AssignmentExpression: ({ left, right }) => name(right, textOf(text, left)),
    Property: ({ key, value }) => name(value, textOf(text, key)),
    CallExpression: (node) => nameCallbacks(calleeOf(text, node.callee), node.arguments),
    NewExpression: (node) => nameCallbacks(`new ${calleeOf(text, node.callee)}`, node.arguments),
  }).visit(parseSync(file, text).program)
  return found
}

interface Node {
  start: number
  end: number
}

/** Of `a.b().c` only `.c`. */
function calleeOf(text: string, callee: Node & { type: string; property?: Node }): string {
  return callee.property ? `.${textOf(text, callee.property)}` : textOf(text, callee)
}

function textOf(text: string, { start, end }: Node): string {
  return text.slice(start, end).replace(/\s+/g, ' ')
}

function linesIn(text: string): number {
  return text.split('\n').length
}
