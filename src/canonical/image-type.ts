/** The image types that vendors accept. */
export type RasterType = 'image/png' | 'image/jpeg' | 'image/webp' | 'image/gif'

/** Detects the type of an image from its first twelve bytes. Undefined for anything else. */
export function rasterTypeOf(first: Buffer): RasterType | undefined {
  const latin = first.subarray(0, 12).toString('latin1')
  if (latin.startsWith('\x89PNG\r\n\x1a\n')) return 'image/png'
  if (latin.startsWith('\xff\xd8\xff')) return 'image/jpeg'
  if (latin.startsWith('GIF87a') || latin.startsWith('GIF89a')) return 'image/gif'
  return latin.startsWith('RIFF') && latin.endsWith('WEBP') ? 'image/webp' : undefined
}
