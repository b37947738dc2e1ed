import type { Inspection } from './inspection.ts'

/** The inspection as JSON. docs/reference/ledger-tools.md describes its members. */
export function inspectionJson(inspection: Inspection): string {
  return JSON.stringify(snakeCased(inspection), null, 2)
}

function snakeCased(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return value.map(snakeCased)
  if (typeof value !== 'object' || value === null) return value ?? null
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      snakeCased(member),
    ]),
  )
}
