import { type Connections, openConnections } from './connections.ts'

/** Run a check of the start before anything in the database changes. */
export async function checkFirst<T>(
  url: string,
  check: (connections: Connections) => Promise<T>,
): Promise<T> {
  const connections = openConnections(url, { max: 1, applicationName: 'tollgate prepare' })
  return await check(connections).finally(() => connections.end())
}
