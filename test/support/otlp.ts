/** A span as a collector gets it. */
export interface SeenSpan {
  traceId: string
  spanId: string
  /** Empty: it has none. */
  parentId: string
  state: string
  name: string
  kind: 'unspecified' | 'internal' | 'server' | 'client' | 'producer' | 'consumer'
  /** Nanoseconds since the epoch. */
  start: bigint
  end: bigint
  attributes: Readonly<Record<string, unknown>>
  events: { name: string; at: bigint; attributes: Readonly<Record<string, unknown>> }[]
  links: { traceId: string; spanId: string }[]
  isError: boolean
  /** Attributes of the process that sent it. */
  resource: Readonly<Record<string, unknown>>
}

/** The spans in the bytes of an export: https://github.com/open-telemetry/opentelemetry-proto, ExportTraceServiceRequest */
export function spansIn(bytes: Uint8Array): SeenSpan[] {
  return messages(fieldsOf(bytes), 1).flatMap((resourceSpans) => {
    const resource = attributesIn(messages(resourceSpans, 1).at(0) ?? [], 1)
    return messages(resourceSpans, 2).flatMap((scopeSpans) =>
      messages(scopeSpans, 2).map((span) => spanOf(span, resource)),
    )
  })
}

const kinds = ['unspecified', 'internal', 'server', 'client', 'producer', 'consumer'] as const

function spanOf(span: Field[], resource: SeenSpan['resource']): SeenSpan {
  return {
    traceId: hex(span, 1),
    spanId: hex(span, 2),
    state: text(span, 3),
    parentId: hex(span, 4),
    name: text(span, 5),
    kind: kinds[Number(numberAt(span, 6))] ?? 'unspecified',
    start: numberAt(span, 7),
    end: numberAt(span, 8),
    attributes: attributesIn(span, 9),
    events: messages(span, 11).map((event) => ({
      name: text(event, 2),
      at: numberAt(event, 1),
      attributes: attributesIn(event, 3),
    })),
    links: messages(span, 13).map((link) => ({ traceId: hex(link, 1), spanId: hex(link, 2) })),
    isError: numberAt(messages(span, 15).at(0) ?? [], 3) === 2n,
    resource,
  }
}

function attributesIn(message: Field[], field: number): Record<string, unknown> {
  return Object.fromEntries(
    messages(message, field).map((pair) => [text(pair, 1), readValue(messages(pair, 2).at(0) ?? [])]),
  )
}

function readValue([field]: Field[]): unknown {
  if (field === undefined) return undefined
  const { number, value } = field
  if (typeof value === 'bigint') {
    if (number === 2) return value === 1n
    if (number === 3) return Number(BigInt.asIntN(64, value))
    const bits = Buffer.alloc(8)
    bits.writeBigUInt64LE(value)
    return bits.readDoubleLE()
  }
  if (number === 1) return Buffer.from(value).toString('utf8')
  return messages(fieldsOf(value), 1).map(readValue)
}

interface Field {
  number: number
  value: bigint | Uint8Array
}

const text = (message: Field[], number: number) => Buffer.from(bytesAt(message, number)).toString('utf8')
const hex = (message: Field[], number: number) => Buffer.from(bytesAt(message, number)).toString('hex')

function bytesAt(message: Field[], number: number): Uint8Array {
  const found = message.find((field) => field.number === number)?.value
  return typeof found === 'object' ? found : new Uint8Array()
}

function numberAt(message: Field[], number: number): bigint {
  const found = message.find((field) => field.number === number)?.value
  return typeof found === 'bigint' ? found : 0n
}

function messages(message: Field[], number: number): Field[][] {
  return message.flatMap((field) =>
    field.number === number && typeof field.value === 'object' ? [fieldsOf(field.value)] : [],
  )
}

/** https://protobuf.dev/programming-guides/encoding/ */
function fieldsOf(message: Uint8Array): Field[] {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.length)
  const fields: Field[] = []
  let at = 0
  const varint = () => {
    let value = 0n
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++]
      if (byte === undefined) throw new Error('the message is cut')
      value |= BigInt(byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  while (at < bytes.length) {
    const tag = Number(varint())
    const number = tag >> 3
    const wireType = tag & 7
    if (wireType === 0) fields.push({ number, value: varint() })
    else if (wireType === 1) {
      fields.push({ number, value: bytes.readBigUInt64LE(at) })
      at += 8
    } else if (wireType === 2) {
      const length = Number(varint())
      fields.push({ number, value: bytes.subarray(at, at + length) })
      at += length
    } else if (wireType === 5) {
      fields.push({ number, value: BigInt(bytes.readUInt32LE(at)) })
      at += 4
    } else throw new Error(`the message has a field of type ${wireType}`)
  }
  return fields
}
