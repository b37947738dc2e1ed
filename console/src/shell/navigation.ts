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
  /** Where members of a tenant have nothing to see. */
  notForMembers?: true
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
      places: places.filter(
        ({ area, notForMembers }) =>
          (area === undefined || may(area)) && !(role === 'member' && notForMembers === true),
      ),
    }))
    .filter(({ places }) => places.length > 0)
}

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
        notForMembers: true,
      },
      { title: 'Users', to: '/console/users', key: 'u', icon: PeopleIcon, area: 'users' },
    ],
  },
  {
    title: 'Where requests go',
    places: [
      { title: 'Channels', to: '/console/channels', key: 'c', icon: ServerIcon, area: 'catalog' },
      { title: 'Models', to: '/console/models', key: 'm', icon: CommandPaletteIcon, area: 'catalog' },
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
