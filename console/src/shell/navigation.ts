import {
  BellIcon,
  BookIcon,
  CommandPaletteIcon,
  GearIcon,
  GraphIcon,
  HistoryIcon,
  type Icon,
  ImageIcon,
  KeyIcon,
  LogIcon,
  OrganizationIcon,
  PeopleIcon,
  PlayIcon,
  RocketIcon,
  ServerIcon,
  StackIcon,
  UploadIcon,
} from '@primer/octicons-react'
import type { Area, Session } from '../api/session.ts'

/** A page of the console that the menu, the palette and the keyboard lead to. */
export interface Place {
  title: string
  to: string
  /** The key after `G`. */
  key: string
  icon: Icon
  /** Only people who may read this see it; absent: everybody. */
  area?: Area
  /** Where members of a tenant have nothing to see, or, whatever the area says, a page of their own. */
  members?: 'none' | 'own'
  /** What those read who open its address and may not read it. */
  instead?: string
}

interface PlaceGroup {
  title: string
  places: readonly Place[]
}

/** The places that somebody may open, in their groups. */
export function placesOf(may: (area: Area) => boolean, role: Session['role']): PlaceGroup[] {
  return places
    .map(({ title, places }) => ({
      title,
      places: places.filter((place) => isFor(place, may, role)),
    }))
    .filter(({ places }) => places.length > 0)
}

function isFor({ area, members }: Place, may: (area: Area) => boolean, role: Session['role']): boolean {
  if (role === 'member' && members !== undefined) return members === 'own'
  return area === undefined || may(area)
}

/** The place whose page, or a page below it, has this address, if this person may not read it. */
export function closedPlace(
  address: string,
  may: (area: Area) => boolean,
  role: Session['role'],
): Pick<Place, 'title' | 'instead'> | undefined {
  const isAt = ({ to }: Place) => address === to || (to !== '/console' && address.startsWith(`${to}/`))
  const place = [...places.flatMap((group) => group.places), prices].find(isAt)
  return place === undefined || isFor(place, may, role) ? undefined : place
}

/** Has no entry in the menu. */
const prices: Place = { title: 'Prices', to: '/console/prices', key: '', icon: GearIcon, area: 'catalog' }

const places: readonly PlaceGroup[] = [
  {
    title: 'What happens',
    places: [
      { title: 'Overview', to: '/console', key: 'o', icon: GraphIcon, area: 'log' },
      { title: 'Log', to: '/console/log', key: 'l', icon: LogIcon, area: 'log' },
      { title: 'Jobs', to: '/console/jobs', key: 'j', icon: ImageIcon, area: 'jobs' },
      { title: 'Playground', to: '/console/playground', key: 'p', icon: PlayIcon, area: 'playground' },
    ],
  },
  {
    title: 'Who may call',
    places: [
      { title: 'Tenants', to: '/console/tenants', key: 't', icon: OrganizationIcon, area: 'tenants' },
      { title: 'Keys', to: '/console/keys', key: 'k', icon: KeyIcon, area: 'keys' },
      {
        title: 'Groups',
        to: '/console/groups',
        key: 'g',
        icon: StackIcon,
        area: 'keys',
        members: 'none',
        instead: 'An admin of the gateway says in which groups the keys of your tenant may be.',
      },
      {
        title: 'Users',
        to: '/console/users',
        key: 'u',
        icon: PeopleIcon,
        area: 'users',
        instead: 'Ask an owner of the gateway if somebody else shall sign in.',
      },
    ],
  },
  {
    title: 'Where requests go',
    places: [
      { title: 'Channels', to: '/console/channels', key: 'c', icon: ServerIcon, area: 'catalog' },
      {
        title: 'Models',
        to: '/console/models',
        key: 'm',
        icon: CommandPaletteIcon,
        area: 'catalog',
        members: 'own',
      },
      { title: 'Import', to: '/console/import', key: 'i', icon: UploadIcon, area: 'catalog' },
    ],
  },
  {
    title: 'The gateway',
    places: [
      { title: 'Set-up', to: '/console/set-up', key: 'f', icon: RocketIcon, area: 'settings' },
      { title: 'Alerts', to: '/console/alerts', key: 'a', icon: BellIcon, area: 'alerts' },
      { title: 'Audit', to: '/console/audit', key: 'h', icon: HistoryIcon, area: 'audit' },
      { title: 'Ledger', to: '/console/ledger', key: 'd', icon: BookIcon, area: 'health' },
      { title: 'Settings', to: '/console/settings', key: 's', icon: GearIcon, area: 'settings' },
    ],
  },
]
