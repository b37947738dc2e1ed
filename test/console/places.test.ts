import { expect, test } from 'vitest'
import { placesOf } from '../../console/src/shell/navigation.ts'

test('menu, palette and keys offer members no page that only operators may open', () => {
  const titles = (role: 'owner' | 'member') =>
    placesOf(() => true, role).flatMap(({ places }) => places.map(({ title }) => title))
  expect(titles('owner')).toContain('Groups')
  expect(titles('member')).not.toContain('Groups')
  expect(titles('member')).toContain('Keys')
})

test('a page of an area that no one may read is not offered, and neither is an empty group of pages', () => {
  expect(placesOf((area) => area === 'catalog', 'viewer').map(({ title }) => title)).toEqual([
    'Where requests go',
  ])
})
