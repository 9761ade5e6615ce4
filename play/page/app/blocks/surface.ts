import { createContext, useContext } from 'react';

/** What stands around blocks: a message or a view. It carries what is pressed to the server. */
export interface Surface {
  press(blockId: string, actionId: string, chosen?: readonly string[]): Promise<void>;
}

export const SurfaceContext = createContext<Surface>({ press: () => Promise.resolve() });

export const useSurface = (): Surface => useContext(SurfaceContext);
