import { type FormEvent, type ReactNode, useId, useMemo, useState } from 'react';
import type { StoredView } from '../../../slack/state/message.ts';
import { Blocks } from '../blocks/blocks.tsx';
import { optionsOf } from '../blocks/options.ts';
import { SurfaceContext } from '../blocks/surface.ts';
import { usePlay } from '../context.ts';
import { useDo } from '../conversation/use-do.ts';
import { type Json, objectOf, objectsOf, stringOf } from '../json.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from './field.tsx';
import { complaintOf, type Filled, firstOf, stateOf } from './values.ts';

const wordsOf = (text: unknown): string => stringOf(objectOf(text).text);
const isInput = (block: Json): boolean => block.type === 'input';
const idOf = (block: Json): string => stringOf(block.block_id);

/** A modal of the app. What stands in it goes back as Slack sends it; it stays open as long as the app finds fault. */
export function Modal({ stored }: { readonly stored: StoredView }): ReactNode {
  const { world } = usePlay();
  const act = useDo();
  const formId = useId();
  const { id: viewId, user, view } = stored;
  const blocks = objectsOf(view.blocks);
  const [touched, setTouched] = useState<Filled>({});
  const [faults, setFaults] = useState<Readonly<Record<string, string>>>();
  const [busy, setBusy] = useState(false);
  const filled = (block: Json): readonly string[] => touched[idOf(block)] ?? firstOf(objectOf(block.element));

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (busy) return;
    const inputs = blocks.filter(isInput);
    const found = inputs.flatMap((block) => {
      const complaint = complaintOf(block, filled(block));
      return complaint === undefined ? [] : [[idOf(block), complaint]];
    });
    setFaults(Object.fromEntries(found));
    if (found.length > 0) return;
    setBusy(true);
    const values = Object.fromEntries(inputs.map((block) => entryOf(block, filled(block), world.get())));
    await act({ kind: 'submit', user, viewId, values });
    setFaults(undefined);
    setBusy(false);
  };
  const errors = faults ?? objectOf(stored.errors);
  const count = Object.keys(errors).length;
  return (
    <Dialog
      title={wordsOf(view.title)}
      onClose={() => void act({ kind: 'close-view', user, viewId })}
      footer={
        <>
          <button type="button" className="button" onClick={() => void act({ kind: 'close-view', user, viewId })}>
            {wordsOf(view.close) || 'Close'}
          </button>
          {view.submit !== undefined && (
            <button type="submit" form={formId} className="button button-primary" aria-disabled={busy}>
              {wordsOf(view.submit) || 'Submit'}
            </button>
          )}
        </>
      }
    >
      <form id={formId} noValidate onSubmit={(event) => void submit(event)}>
        <p className="only-heard" role="alert">
          {count > 0 &&
            `${count} ${count === 1 ? 'field needs' : 'fields need'} another look: ${Object.values(errors).join(' ')}`}
        </p>
        <ViewBlocks
          stored={stored}
          field={(block) => (
            <Field
              key={idOf(block)}
              block={block}
              filled={filled(block)}
              error={stringOf(errors[idOf(block)]) || undefined}
              onFill={(next) => setTouched((now) => ({ ...now, [idOf(block)]: next }))}
            />
          )}
        />
      </form>
    </Dialog>
  );
}

function entryOf(block: Json, filled: readonly string[], world: Parameters<typeof optionsOf>[1]): [string, Json] {
  const element = objectOf(block.element);
  return [idOf(block), { [stringOf(element.action_id)]: stateOf(element, filled, optionsOf(element, world)) }];
}

interface ViewBlocksProps {
  readonly stored: StoredView;
  readonly field: (block: Json) => ReactNode;
}

/** Inputs as fields, everything else as in a message; what is pressed names the view. */
function ViewBlocks({ stored: { id: viewId, user, view }, field }: ViewBlocksProps): ReactNode {
  const act = useDo();
  const surface = useMemo(
    () => ({
      press: async (blockId: string, actionId: string, chosen?: readonly string[]) => {
        const pressed = { kind: 'press-in-view', user, viewId, blockId, actionId } as const;
        await act(chosen === undefined ? pressed : { ...pressed, chosen });
      },
    }),
    [act, user, viewId],
  );
  return (
    <SurfaceContext value={surface}>
      {objectsOf(view.blocks).map((block, index) =>
        isInput(block) ? field(block) : <Blocks key={idOf(block) || index} blocks={[block]} />,
      )}
    </SurfaceContext>
  );
}
