/** The lowest UUIDv7 of a moment: all ids that are made from then on are higher. https://www.rfc-editor.org/rfc/rfc9562#section-5.7 */
export function firstIdAt(moment: Date): string {
  const hex = Math.max(0, moment.getTime()).toString(16).padStart(12, '0')
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7000-8000-000000000000`
}
