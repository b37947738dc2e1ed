import { Menu, UnstyledButton, useMantineColorScheme } from '@mantine/core'
import {
  BookIcon,
  ChevronUpIcon,
  DeviceDesktopIcon,
  HomeIcon,
  MoonIcon,
  PersonIcon,
  SignOutIcon,
  SunIcon,
} from '@primer/octicons-react'
import { Link, useNavigate } from '@tanstack/react-router'
import { ApiError, api, ask } from '../api/client.ts'
import { forgetSession, useSession } from '../api/session.ts'
import { fails } from '../parts/toast.tsx'
import { site } from '../site.ts'
import classes from './who-menu.module.css'

/** Who is signed in: the own account, light or dark, sign out. */
export function WhoMenu() {
  const session = useSession()
  const navigate = useNavigate()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  const signOut = async () => {
    try {
      await ask(api.DELETE('/admin/v1/session'))
    } catch (error) {
      // Where the session has ended already, only this browser has something to forget.
      if (!(error instanceof ApiError) || error.status !== 401) {
        fails('The sign-out', error)
        return
      }
    }
    forgetSession()
    // Drafts of this tab.
    sessionStorage.clear()
    await navigate({ to: '/console/sign-in' })
  }
  return (
    <Menu position="top-start" width={208}>
      <Menu.Target>
        <UnstyledButton className={classes.who}>
          <PersonIcon size={16} aria-hidden />
          <span className={classes.name}>
            <span title={session.name}>{session.name}</span>
            <small>{session.role}</small>
          </span>
          <ChevronUpIcon size={12} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component={Link} to="/console/account" leftSection={<PersonIcon size={14} />}>
          Your account
        </Menu.Item>
        {site.pages.includes('docs') ? (
          <Menu.Item component={Link} to="/docs" leftSection={<BookIcon size={14} />}>
            Documentation
          </Menu.Item>
        ) : null}
        {site.pages.includes('home') ? (
          <Menu.Item component={Link} to="/" leftSection={<HomeIcon size={14} />}>
            Home page
          </Menu.Item>
        ) : null}
        <Menu.Divider />
        <Menu.Label>Colours</Menu.Label>
        {schemes.map(({ scheme, title, icon: Icon }) => (
          <Menu.Item
            key={scheme}
            leftSection={<Icon size={14} />}
            aria-current={colorScheme === scheme}
            onClick={() => setColorScheme(scheme)}
            rightSection={colorScheme === scheme ? '✓' : null}
          >
            {title}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item leftSection={<SignOutIcon size={14} />} onClick={() => void signOut()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

const schemes = [
  { scheme: 'light', title: 'Light', icon: SunIcon },
  { scheme: 'dark', title: 'Dark', icon: MoonIcon },
  { scheme: 'auto', title: 'As the system', icon: DeviceDesktopIcon },
] as const
