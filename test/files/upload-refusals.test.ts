import { once } from 'node:events'
import { connect } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Reason } from '../../src/canonical/reasons/catalogue.ts'
import { freeKey, paidKey } from '../support/gateway-yaml.ts'
import { startTestbed, type Testbed } from '../support/testbed.ts'
import { heldStreams } from '../support/upstream-plans.ts'

/** All that an upload form can have wrong, whole and cut off, against one process that serves another tenant meanwhile. */

let bed: Testbed
const escaped: unknown[] = []
const note = (error: unknown) => void escaped.push(error)
beforeAll(async () => {
  process.on('uncaughtException', note).on('unhandledRejection', note)
  bed = await startTestbed({ env: { FILE_BYTES_MAX: '5000', UNAUTHENTICATED_ROWS_PER_MINUTE: '1000' } })
})
afterAll(async () => {
  await bed.close()
  process.off('uncaughtException', note).off('unhandledRejection', note)
})

type Bytes = string | Buffer

/** One part: its header lines, and its bytes. */
const part = (headers: string, bytes: Bytes = 'hello') =>
  Buffer.concat([`--B\r\n${headers}\r\n\r\n`, bytes, '\r\n'].map((each) => Buffer.from(each)))
const disposition = (rest: string) => `content-disposition: form-data${rest}`
const field = (name: string, value: string) => part(disposition(`; name="${name}"`), value)
const file = (name = '; filename="a.txt"', bytes: Bytes = 'hello') =>
  part(disposition(`; name="file"${name}`), bytes)
const named = (name: string) => file(`; filename="${name}"`)
const purpose = field('purpose', 'user_data')
const end = '--B--\r\n'
const times = (count: number, each: Buffer) => Array.from({ length: count }, () => each)

interface Refused {
  body: Bytes[]
  says: RegExp
  type?: string
  status?: number
}

const nameRule = /^file: its name must have at most 255 characters, none of them a control character$/
const notAForm = /^body: expected a complete multipart\/form-data form with the parts "file" and "purpose"$/
const unknown = /: unknown part of an upload. Expected "file", "purpose", /
const unknownType = /^file: this gateway cannot store files of this type/
const twice = /: given more than once$/
const reasons: readonly [RegExp, Reason][] = [
  [notAForm, 'upload_form_invalid'],
  [unknownType, 'file_type_refused'],
  [twice, 'field_invalid'],
]
const noFile = /^file: required: a part with the bytes of the file$/

const refusals: Record<string, Refused> = {
  'two files': { body: [file(), file(), purpose, end], says: twice },
  'two files after the purpose': { body: [purpose, file(), file(), end], says: twice },
  'three files': { body: [file(), file(), file(), end], says: twice },
  'no file': { body: [purpose, end], says: noFile },
  'no part': { body: [end], says: noFile },
  'an empty file': { body: [file('; filename="a.txt"', ''), purpose, end], says: /^file: is empty$/ },
  'a file that is too large': {
    body: [file('; filename="a.txt"', Buffer.alloc(6000, 'x')), purpose, end],
    says: /larger than the 5000 bytes/,
    status: 413,
  },
  'a file of no known type': {
    body: [file('; filename="a.txt"', Buffer.from([0, 1, 2])), purpose, end],
    says: unknownType,
  },
  'an unknown part before the file': { body: [field('colour', 'red'), file(), purpose, end], says: unknown },
  'an unknown part after the file': { body: [file(), field('colour', 'red'), purpose, end], says: unknown },
  'an unknown file before the file': {
    body: [part(disposition('; name="f"; filename="a"')), file(), purpose, end],
    says: unknown,
  },
  'an unknown file after the file': {
    body: [file(), part(disposition('; name="f"; filename="a"')), purpose, end],
    says: twice,
  },
  'a field without a name': { body: [part(disposition('')), file(), purpose, end], says: unknown },
  'a field whose name has no value': {
    body: [part(disposition('; name')), file(), purpose, end],
    says: unknown,
  },
  'a file without a name of its part': {
    body: [part(disposition('; filename="a.txt"')), purpose, end],
    says: unknown,
  },
  'an empty name of a field': { body: [field('', 'x'), file(), purpose, end], says: unknown },
  'a long name of a field': { body: [field('n'.repeat(5000), 'x'), file(), purpose, end], says: unknown },
  'an unknown purpose': {
    body: [file(), field('purpose', 'batch'), end],
    says: /^purpose: expected .*, got "batch"/,
  },
  'a long purpose': {
    body: [file(), field('purpose', 'p'.repeat(900)), end],
    says: /^purpose: expected .*, got "p{40}\.\.\."/,
  },
  'no purpose': { body: [file(), end], says: /^purpose: required: "user_data"/ },
  'two purposes': { body: [purpose, purpose, file(), end], says: twice },
  'a field that is too long': {
    body: [field('user', 'u'.repeat(1025)), file(), purpose, end],
    says: /^user: expected at most 1024 bytes$/,
  },
  'nine fields': { body: [...times(9, field('user', 'u')), file(), purpose, end], says: twice },
  'eleven parts': {
    body: [...times(9, part('x: y')), file(), purpose, end],
    says: /^body: has too many parts$/,
  },
  'many parts after the file': {
    body: [file(), purpose, ...times(500, part('x: y')), end],
    says: /^body: has too many parts$/,
  },
  'a life in words': {
    body: [
      file(),
      purpose,
      field('expires_after[anchor]', 'created_at'),
      field('expires_after[seconds]', 'x'),
      end,
    ],
    says: /^expires_after.seconds: expected a whole number/,
  },
  'a name of 256 characters': { body: [named('x'.repeat(256)), purpose, end], says: nameRule },
  'a name of 256 characters after the purpose': {
    body: [purpose, named('x'.repeat(256)), end],
    says: nameRule,
  },
  'a name of 5,000 characters': { body: [named('x'.repeat(5000)), purpose, end], says: nameRule },
  'a name that is cut at the bound of the headers': {
    body: [named('x'.repeat(20_000)), purpose, end],
    says: nameRule,
  },
  'a long name of a file that is not text': {
    body: [file(`; filename="${'x'.repeat(256)}"`, Buffer.from([0, 1])), purpose, end],
    says: nameRule,
  },
  'a long name and an empty file': {
    body: [file(`; filename="${'x'.repeat(256)}"`, ''), purpose, end],
    says: nameRule,
  },
  'a long name of a large file': {
    body: [file(`; filename="${'x'.repeat(256)}"`, Buffer.alloc(100_000, 'x')), purpose, end],
    says: /its name must have|larger than the 5000 bytes/,
    status: 413,
  },
  'two files, the second with a long name': {
    body: [file(), named('x'.repeat(256)), purpose, end],
    says: twice,
  },
  'two files, the first with a long name': {
    body: [named('x'.repeat(256)), file(), purpose, end],
    says: nameRule,
  },
  'a tab in the name': { body: [named('a\tb.txt'), purpose, end], says: nameRule },
  'a NUL in the name': { body: [named('a\0b.txt'), purpose, end], says: nameRule },
  'a DEL in the name': { body: [named('a\x7fb.txt'), purpose, end], says: nameRule },
  'a C1 control in the name': { body: [named('a\u0085b.txt'), purpose, end], says: nameRule },
  'a control character by filename*': {
    body: [file("; filename*=utf-8''a%0Ab.txt"), purpose, end],
    says: noFile,
  },
  'a NUL by filename*': { body: [file("; filename*=utf-8''a%00b"), purpose, end], says: nameRule },
  'a long name by filename*': {
    body: [file(`; filename*=utf-8''${'x'.repeat(256)}`), purpose, end],
    says: nameRule,
  },
  'half a surrogate by filename*': {
    body: [file("; filename*=utf-16le''%00%d8"), purpose, end],
    says: nameRule,
  },
  'no end': { body: [file(), purpose], says: notAForm },
  'no end of the last part': {
    body: [purpose, '--B\r\n', disposition('; name="file"; filename="a"'), '\r\n\r\nabc'],
    says: notAForm,
  },
  'headers without their end': { body: [purpose, '--B\r\n', disposition('; name="file"')], says: notAForm },
  'another boundary': {
    body: [file(), purpose, end],
    type: 'multipart/form-data; boundary=C',
    says: notAForm,
  },
  'no boundary': { body: [file(), purpose, end], type: 'multipart/form-data', says: notAForm },
  'an empty boundary': {
    body: [file(), purpose, end],
    type: 'multipart/form-data; boundary=',
    says: notAForm,
  },
  'no form': { body: ['{}'], type: 'application/json', says: notAForm },
  'another form': { body: ['purpose=user_data'], type: 'application/x-www-form-urlencoded', says: notAForm },
  'text and no form': { body: ['hello'.repeat(100)], says: notAForm },
  nothing: { body: [], says: notAForm },
  'text before the form, and an unknown part': {
    body: ['some text\r\n', field('colour', 'red'), file(), end],
    says: unknown,
  },
  'text after the form, and no purpose': {
    body: [file(), end, 'some text'.repeat(50)],
    says: /^purpose: required/,
  },
  'text after the form, and a long name': {
    body: [named('x'.repeat(256)), purpose, end, 'text'],
    says: nameRule,
  },
  'a file part without headers': { body: [part(''), purpose, end], says: noFile },
  'a part without a disposition': { body: [part('content-type: text/plain'), purpose, end], says: noFile },
  'another disposition': {
    body: [part('content-disposition: attachment; filename="a"'), purpose, end],
    says: noFile,
  },
  'headers of 20,000 bytes': {
    body: [part(`x: ${'y'.repeat(20_000)}\r\n${disposition('; name="file"')}`), purpose, end],
    says: noFile,
  },
  'five thousand header lines': {
    body: [part(`${'x: y\r\n'.repeat(5000)}${disposition('; name="file"')}`), purpose, end],
    says: noFile,
  },
  'a header that is not a header': { body: [part('nonsense'), purpose, end], says: noFile },
}

interface Answer {
  status: number
  id: string | null
  error: Record<string, unknown>
}

const typeOf = ({ type = 'multipart/form-data; boundary=B' }: Refused) => type
const bytesOf = ({ body }: Refused) => Buffer.concat(body.map((each) => Buffer.from(each)))

async function send(bytes: Buffer, type: string): Promise<Answer> {
  const answer = await fetch(`${bed.tollgate.url}/v1/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${paidKey}`, 'content-type': type },
    body: new Uint8Array(bytes),
  })
  const { error = {} } = (await answer.json()) as { error?: Record<string, unknown> }
  return { status: answer.status, id: answer.headers.get('x-request-id'), error }
}

/** Sends the head of a request for all of the bytes, and the first `at` of them; then closes the connection. */
async function leave(bytes: Buffer, at: number, type: string): Promise<void> {
  const socket = connect(bed.tollgate.port, '127.0.0.1').on('error', () => {})
  socket.write(
    `POST /v1/files HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${paidKey}\r\ncontent-type: ${type}\r\ncontent-length: ${bytes.length}\r\n\r\n`,
  )
  socket.write(bytes.subarray(0, at), () => socket.destroy())
  await once(socket, 'close')
}

/** Five places within the form. What comes after its end cuts nothing off. */
function cutsOf(bytes: Buffer): number[] {
  const form = bytes.indexOf('--B--') === -1 ? bytes.length : bytes.indexOf('--B--')
  return [1, 2, 3, 4, 5].map((sixth) => Math.floor((form * sixth) / 6))
}

const rowsOfUploads = async () => {
  await bed.tollgate.ship()
  return await bed.database
    .sql`SELECT id, status, outcome FROM requests WHERE endpoint = '/v1/files' ORDER BY id`
}

/** A stream of another tenant that runs until `finish`. */
async function openStream() {
  const { script, finish } = heldStreams()
  bed.upstream.script(script)
  const body = { model: 'priced', messages: [{ role: 'user', content: 'Hello' }], stream: true }
  const stream = await bed.chat(body, { key: freeKey })
  return { id: stream.headers.get('x-request-id'), text: stream.text(), finish }
}

test('every refusal of an upload is an answer with its row, whole and cut off, and a stream of another tenant goes on', async () => {
  const stream = await openStream()
  const answers: { what: string; answer: Answer; refused: Refused; isWhole: boolean }[] = []
  for (const [what, refused] of Object.entries(refusals)) {
    const bytes = bytesOf(refused)
    for (const at of [...cutsOf(bytes), bytes.length]) {
      const isWhole = at === bytes.length
      const answer = await send(bytes.subarray(0, at), typeOf(refused))
      answers.push({ what: `${what}, ${at} of ${bytes.length} bytes`, answer, refused, isWhole })
    }
  }
  for (const { what, answer, refused, isWhole } of answers) {
    const { status, error } = answer
    expect(status, what).toSatisfy((code: number) => code === 400 || code === 413)
    expect(error, what).toMatchObject({ message: expect.any(String), type: 'invalid_request_error' })
    const message = String(error.message)
    const reason = reasons.find(([says]) => says === refused.says)?.[1]
    if (isWhole) {
      if (reason !== undefined) expect(error.code, what).toBe(reason)
      expect(message, what).toMatch(refused.says)
      expect(status, what).toBe(refused.status ?? 400)
    } else
      expect(
        [refused.says, notAForm, noFile].filter((each) => each.test(message)),
        what,
      ).not.toEqual([])
  }
  expect(escaped).toEqual([])
  const rows = await rowsOfUploads()
  expect(rows.map(({ id, status }) => ({ id, status }))).toEqual(
    answers.map(({ answer: { id, status } }) => ({ id, status })),
  )
  stream.finish()
  expect(await stream.text).toMatch(/\[DONE\]\s*$/)
  expect(await bed.row(stream.id)).toMatchObject({ outcome: 'succeeded' })
  expect(await bed.database.sql`SELECT 1 FROM files`).toEqual([])
})

test('a client that leaves in the middle of any refused upload has one row, and the process serves on', async () => {
  const before = (await rowsOfUploads()).length
  const all = Object.values(refusals).map((refused) => ({ bytes: bytesOf(refused), type: typeOf(refused) }))
  for (const { bytes, type } of all) for (const at of cutsOf(bytes)) await leave(bytes, at, type)
  const expected = before + all.length * 5
  await expect.poll(async () => (await rowsOfUploads()).length, { timeout: 60_000 }).toBe(expected)
  expect(escaped).toEqual([])
  const file = new File(['some words'], `${'x'.repeat(251)}.txt`)
  const form = new FormData()
  form.set('file', file)
  form.set('purpose', 'user_data')
  const answer = await fetch(`${bed.tollgate.url}/v1/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${paidKey}` },
    body: form,
  })
  expect(answer.status).toBe(200)
  expect(await answer.json()).toMatchObject({ filename: file.name })
})
