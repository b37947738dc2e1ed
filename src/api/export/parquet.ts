import { ByteWriter, ParquetWriter, schemaFromColumnData } from 'hyparquet-writer'
import type { ColumnKind } from '../../journal/column.ts'
import type { ExportColumn, RowEncoder } from './row-encoder.ts'

type ParquetType = 'BOOLEAN' | 'INT32' | 'INT64' | 'STRING' | 'JSON' | 'TIMESTAMP'

const types: Readonly<Record<ColumnKind, ParquetType>> = {
  uuid: 'STRING',
  moment: 'TIMESTAMP',
  bool: 'BOOLEAN',
  int2: 'INT32',
  int4: 'INT32',
  money: 'INT64',
  text: 'STRING',
  texts: 'JSON',
  array: 'JSON',
}

/** Each batch becomes a row group, so that only one is in memory at a time. */
export function parquetEncoder(columns: readonly ExportColumn[]): RowEncoder {
  const described = columns.map(({ name, kind }) => ({ name, type: types[kind], nullable: true }))
  const writer = new ByteWriter()
  const file = new ParquetWriter({
    writer,
    schema: schemaFromColumnData({ columnData: described.map((each) => ({ ...each, data: [] })) }),
    createdBy: 'tollgate',
  })
  const taken = (): Buffer => {
    const bytes = Buffer.from(writer.getBuffer())
    writer.index = 0
    return bytes
  }
  return {
    begin: taken,
    async rows(rows) {
      await file.write({
        columnData: described.map((each, at) => ({
          ...each,
          data: rows.map((row) => storedOf(row[at], each.type)),
        })),
        rowGroupSize: rows.length,
      })
      return taken()
    },
    async end() {
      await file.finish()
      return taken()
    },
  }
}

function storedOf(value: unknown, type: ParquetType): unknown {
  if (value === null || value === undefined) return null
  switch (type) {
    case 'INT64':
      return BigInt(String(value))
    case 'JSON':
      return typeof value === 'string' ? parsed(value) : value
    default:
      return value
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return json
  }
}
