import { stat } from 'node:fs/promises'
import { type GatewaySource, readGatewaySource } from '../catalog/gateway-source.ts'

/** The files that gateway.yaml names, and the result of `stateOf` for all of them. */
export interface SeenFiles {
  files: readonly string[]
  state: string
}

/**
 * Reads gateway.yaml. `seen` is taken before gateway.yaml and the files that it names are read, so no change
 * is missed.
 */
export async function readWithState(
  ...[path, environment, bounds]: Parameters<typeof readGatewaySource>
): Promise<{ source: GatewaySource; seen: SeenFiles }> {
  const own = await stateOf(path, [])
  const source = readGatewaySource(path, environment, bounds)
  const { files } = source
  return { source, seen: { files, state: [own, ...(await statesOf(files))].join('\n') } }
}

/**
 * Returns a text that differs after every change of gateway.yaml or a file that it names, whether the file
 * was written, replaced or linked to another file.
 */
export async function stateOf(path: string, files: readonly string[]): Promise<string> {
  return (await statesOf([path, ...files])).join('\n')
}

async function statesOf(paths: readonly string[]): Promise<string[]> {
  return await Promise.all(paths.map(stateOfOne))
}

async function stateOfOne(path: string): Promise<string> {
  try {
    const { dev, ino, size, mtimeMs, ctimeMs } = await stat(path)
    return [dev, ino, size, mtimeMs, ctimeMs].join(' ')
  } catch (error) {
    return String(error)
  }
}
