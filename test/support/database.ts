import { randomUUID } from 'node:crypto'
import { inject } from 'vitest'
import { administer } from './administer.ts'

/** A migrated database for one test or one file. Drop it at the end, also when something is still connected. */
export function freshDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  return makeDatabase(`template ${inject('postgres').template}`)
}

/** A database without any table, as a new installation finds it. */
export function emptyDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  return makeDatabase('')
}

async function makeDatabase(origin: string): Promise<{ url: string; drop(): Promise<void> }> {
  const server = inject('postgres').url
  const name = `test_${randomUUID().replaceAll('-', '')}`
  await administer(server, `create database ${name} ${origin}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return { url: url.href, drop: () => administer(server, `drop database if exists ${name} with (force)`) }
}
