import { expect, test } from 'vitest'
import { addressOf } from '../../console/src/pages/overview/overview-address.ts'
import { closedPlace, placesOf } from '../../console/src/shell/navigation.ts'

test('menu, palette and keys offer members no page that only operators may open', () => {
  const titles = (role: 'owner' | 'member') =>
    placesOf(() => true, role).flatMap(({ places }) => places.map(({ title }) => title))
  expect(titles('owner')).toContain('Groups')
  expect(titles('member')).not.toContain('Groups')
  expect(titles('member')).toContain('Keys')
})

test('a member has its own page of models, whatever it may read of the catalog', () => {
  const mayAll = placesOf((area) => area === 'log', 'member').flatMap(({ places }) => places)
  expect(mayAll.map(({ to }) => to)).toContain('/console/models')
  expect(closedPlace('/console/models/gpt', () => false, 'member')).toBeUndefined()
})

test('who opens the address of a page that they may not read is told so, also below it', () => {
  const may = (area: string) => area === 'log'
  const closed = (address: string) => closedPlace(address, may, 'member')?.title
  expect(
    ['channels', 'channels/x', 'settings', 'prices', 'groups/x', 'users', 'ledger', 'import'].map((page) =>
      closed(`/console/${page}`),
    ),
  ).toEqual(['Channels', 'Channels', 'Settings', 'Prices', 'Groups', 'Users', 'Ledger', 'Import'])
  for (const open of ['/console', '/console/log', '/console/account']) expect(closed(open)).toBeUndefined()
})

test('the overview leads a member from a model to its own page, and from a group nowhere', () => {
  expect(addressOf('model', 'a/b', 'member')).toBe('/console/models/a%2Fb')
  expect(addressOf('group', 'x', 'member')).toBeUndefined()
  expect(addressOf('group', 'x', 'viewer')).toBe('/console/groups/x')
})

test('a page of an area that no one may read is not offered, and neither is an empty group of pages', () => {
  expect(placesOf((area) => area === 'catalog', 'viewer').map(({ title }) => title)).toEqual([
    'Where requests go',
  ])
})
