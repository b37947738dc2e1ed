import { expect, test } from 'vitest'
import { type Call, Code, child, children, type Node, nameOf } from './support/code.ts'
import { readSources, sourceOf } from './support/sources.ts'

/**
 * An error that is thrown in a handler of an emitter or a timer, and an event `error` without a listener, end the process for all. This
 * walks all of src and workers, by the names in their text.
 *
 * It sees what a handler throws by `throw`, by what of Node is known to throw, and by calls of our own functions, through files;
 * an async handler that may reject; a stream, server, process or thread that we make and that nothing listens to.
 *
 * It does not see a value that is another one than its type says, a handler that comes as an argument, a callback of a library, a promise
 * that is dropped, or a stream that a library makes. What comes of these reaches `onUncaught` of src/process/end-signals.ts.
 */

const code = new Code(readSources().filter(({ file }) => /^(src|workers)\//.test(file)))

test('no handler of an emitter or a timer throws: it goes through confined, or catches', () => {
  expect(throwingHandlers(code)).toEqual([])
})

test('a stream is destroyed with an error by breakOff alone, which gets the error, and no error is emitted', () => {
  expect(loudEnds(code)).toEqual([])
})

test('a stream, server, process or thread has a listener for its error from its first moment', () => {
  expect(unheard(code)).toEqual([])
})

test.each([
  [
    'an upload as it was when a file name ended the process',
    `parser.on('file', (name, stream, filename) => { part = receive(stream, nameOf(filename)) })
     function nameOf(name) { if (name.length > 255) throw invalid('file'); return name }
     function later(stream) { stream?.destroy(left()) }`,
    ['src/planted.ts:1: calls nameOf', 'src/planted.ts:3', 'src/planted.ts:1: stream'],
  ],
  ['a throw', `socket.once('close', () => { throw new Error('x') })`, ['src/planted.ts:1: throws']],
  [
    'one through two calls',
    `setImmediate(one)\nconst one = () => two()\nfunction two() { JSON.parse('') }`,
    ['src/planted.ts:1: calls two'],
  ],
  ['one in a loop', `s.on('data', (x) => { x.forEach((y) => { throw y }) })`, ['src/planted.ts:1: throws']],
  [
    'one behind a catch',
    `s.on('data', () => { try { f() } catch (e) { throw e } })`,
    ['src/planted.ts:1: throws'],
  ],
  [
    'a handler that is made',
    `s.on('x', make(1))\nfunction make() { return () => { throw 1 } }`,
    ['src/planted.ts:1: throws'],
  ],
  [
    'a method',
    `class A { #b() { throw 1 }\n c() { x.on('y', () => this.#b()) } }`,
    ['src/planted.ts:2: calls this.#b'],
  ],
  ['an async handler', `s.on('x', async () => { await f() })`, ['src/planted.ts:1: is async']],
  ['an error that is emitted', `s.emit('error', e)`, ['src/planted.ts:1']],
  [
    'a server',
    `import { createServer } from 'node:http'\nconst server = createServer()`,
    ['src/planted.ts:2: node:http createServer'],
  ],
  [
    'a stream in a field',
    `import { PassThrough } from 'node:stream'\nclass A { #s = new PassThrough() }`,
    ['src/planted.ts:2: node:stream PassThrough'],
  ],
])('%s is found', (_, text, places) => {
  const planted = new Code([sourceOf('src/planted.ts', text)])
  const found = [...throwingHandlers(planted), ...loudEnds(planted), ...unheard(planted)]
  expect(found.map((each, at) => each.startsWith(places[at] ?? '-'))).toEqual(places.map(() => true))
})

test.each([
  `s.on('x', () => { try { f() } catch { g() } })\nfunction f() { throw 1 }`,
  `s.on('x', confined(reject, () => { throw 1 }))`,
  `s.on('x', async () => { try { await f() } catch {} })`,
  `s.on('x', () => { const later = () => { throw 1 } })`,
  `import { connect } from 'node:net'\nconst socket = connect(1).once('error', reject)`,
  `import { connect } from 'node:net'\nconst socket = adopt(connect(1))`,
  `import { connect } from 'node:net'\nthis.#a = connect(1)\nthis.#a.on('error', reject)`,
  `socket.destroy()`,
])('%s is well', (text) => {
  const planted = new Code([sourceOf('src/planted.ts', text)])
  expect([...throwingHandlers(planted), ...loudEnds(planted), ...unheard(planted)]).toEqual([])
})

function throwingHandlers(of: Code): string[] {
  return of.calls.flatMap((call) => {
    const handler = handlerOf(call)
    if (handler === undefined || isCallOf(handler, 'confined')) return []
    return of.functionsOf(call.file, handler).flatMap((each) => {
      const why = of.reasonOf(each)
      return why === undefined ? [] : [`${of.place(call.file, handler)}: ${why}`]
    })
  })
}

const listens = /\.(on|once|addListener|prependListener|prependOnceListener|addEventListener)$/
const timers = /^(set(Timeout|Interval|Immediate)|queueMicrotask|process\.nextTick)$/

function handlerOf({ node, name }: Call): Node | undefined {
  const [first, second] = children(node, 'arguments')
  if (timers.test(name)) return first
  return listens.test(name) && first?.type !== 'MemberExpression' ? second : undefined
}

function loudEnds(of: Code): string[] {
  return of.calls.flatMap(({ file, node, name }) => {
    const [first] = children(node, 'arguments')
    const isLoud = /\.destroy$/.test(name)
      ? first !== undefined
      : /\.emit$/.test(name) && nameOf(first) === 'error'
    return isLoud && file !== 'src/runtime/confine.ts' ? [`${of.place(file, node)}: ${name}`] : []
  })
}

/** What emits `error`, by the package and the name that it is imported by. */
const emitters =
  /^(node:net (connect|createConnection|createServer)|node:tls connect|node:https? (request|get|createServer)|node:fs create\w+|node:zlib create\w+|node:child_process (spawn|fork|exec|execFile)|node:stream \w+|node:worker_threads Worker|ws WebSocket|ioredis Redis|pg (Client|Pool)|bullmq (Worker|Queue|QueueEvents)|src\/start-thread\.ts startThread)$/

/** Events that bring a stream to which nothing listens, as their second argument. */
const bringsStream: ReadonlySet<string> = new Set(['file', 'connect', 'upgrade'])

function unheard(of: Code): string[] {
  return of.calls.flatMap(({ file, node, name, around }) => {
    const made = of.importOf(file, name.replace(/^new /, ''))
    if (emitters.test(made))
      return isHeard(of, file, node, around)
        ? []
        : [`${of.place(file, node)}: ${made} has no listener for its error`]
    const [event, handler] = children(node, 'arguments')
    if (!listens.test(name) || handler === undefined || !bringsStream.has(nameOf(event))) return []
    const inner = isCallOf(handler, 'confined') ? children(handler, 'arguments')[1] : handler
    return of.functionsOf(file, inner ?? handler).flatMap((each) => {
      const stream = nameOf(children(each, 'params')[1])
      const home = of.fileOf(each)
      if (stream === '' || listensTo(of.textOf(home, each), stream)) return []
      return [`${of.place(home, each)}: ${stream} has no listener for its error`]
    })
  })
}

function isHeard(of: Code, file: string, made: Node, around: Node | undefined): boolean {
  if (around === undefined) return false
  // Its callers are looked at instead.
  if (around.type === 'ReturnStatement' && file === 'src/runtime/start-thread.ts') return true
  if (isCallOf(around, 'adopt')) return true
  // `make().on('error', f)`, also further down the chain.
  const statement = of.textAfter(file, made)
  if (/^(\s*\.\w+\([^;]*?\))*?\s*\.(on|once)\(\s*'error'/.test(statement)) return true
  const to = child(around, 'id') ?? child(around, 'left') ?? child(around, 'key')
  if (to === undefined) return false
  const name = of.textOf(file, to).replace(/:.*$/s, '')
  return listensTo(of.wholeOf(file), around.type === 'PropertyDefinition' ? `this.${name}` : name)
}

function listensTo(text: string, name: string): boolean {
  const exact = name.replace(/[.$]/g, '\\$&')
  return new RegExp(
    `(^|[^\\w.#])(${exact}\\??\\s*(\\.\\w+\\([^;]*?\\))*?\\s*\\.(on|once)\\(\\s*'error'|adopt\\(${exact}\\))`,
  ).test(text)
}

function isCallOf(node: Node, name: string): boolean {
  return node.type === 'CallExpression' && nameOf(child(node, 'callee')) === name
}
