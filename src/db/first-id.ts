/**
 * The lowest uuid for a time in ms since the epoch: uuidv7s created from then on are higher.
 * https://www.rfc-editor.org/rfc/rfc9562#section-5.7
 */
export function firstIdAt(ms: number): string {
  const hex = Math.max(0, Math.trunc(ms)).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8)}-0000-0000-000000000000`
}
