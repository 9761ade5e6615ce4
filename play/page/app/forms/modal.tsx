import { type FormEvent, type ReactNode, useEffect, useId, useMemo, useState } from 'react';
import type { StoredView } from '../../../slack/state/message.ts';
import { Blocks } from '../blocks/blocks.tsx';
import { type Option, optionOf, optionsOf } from '../blocks/options.ts';
import { SurfaceContext } from '../blocks/surface.ts';
import { usePlay } from '../context.ts';
import { useDo } from '../conversation/use-do.ts';
import { type Json, objectOf, objectsOf, stringOf } from '../json.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Field } from './field.tsx';
import { complaintOf, type Filled, firstOf, isTyped, stateOf } from './values.ts';

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
  /** What the app suggested for search menus, by block id. */
  const [suggested, setSuggested] = useState<Readonly<Record<string, readonly Option[]>>>({});
  const filled = (block: Json): readonly string[] => touched[idOf(block)] ?? firstOf(objectOf(block.element));
  const known = (block: Json): readonly Option[] => [
    ...optionsOf(objectOf(block.element), world.get()),
    ...(suggested[idOf(block)] ?? []),
  ];
  const inputs = blocks.filter(isInput);
  const ids = inputs.map(idOf).join('\n');
  useEffect(() => {
    // An input of another block id begins anew, also one that was there before.
    const present = new Set(ids.split('\n'));
    setTouched((now) => Object.fromEntries(Object.entries(now).filter(([id]) => present.has(id))));
  }, [ids]);
  const valuesNow = (blockId?: string, next: readonly string[] = []) =>
    Object.fromEntries(
      inputs.map((block) => entryOf(block, idOf(block) === blockId ? next : filled(block), known(block))),
    );

  const fill = (block: Json, next: readonly string[]): void => {
    const blockId = idOf(block);
    setTouched((now) => ({ ...now, [blockId]: next }));
    const element = objectOf(block.element);
    if (block.dispatch_action !== true || isTyped(element)) return;
    const pressed = { viewId, blockId, actionId: stringOf(element.action_id), chosen: next };
    void act({ kind: 'press-in-view', user, ...pressed, values: valuesNow(blockId, next) });
  };

  const search = async (block: Json, typed: string): Promise<readonly Option[] | undefined> => {
    const blockId = idOf(block);
    const actionId = stringOf(objectOf(block.element).action_id);
    const answer = await act({ kind: 'suggest', user, viewId, blockId, actionId, typed });
    const options = answer.ok ? answer.options?.map((source) => optionOf(source)) : undefined;
    setSuggested((now) => ({ ...now, [blockId]: [...(now[blockId] ?? []), ...(options ?? [])].slice(-300) }));
    return options;
  };

  const submit = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    if (busy) return;
    const found = inputs.flatMap((block) => {
      const complaint = complaintOf(block, filled(block));
      return complaint === undefined ? [] : [[idOf(block), complaint]];
    });
    setFaults(Object.fromEntries(found));
    if (found.length > 0) return;
    setBusy(true);
    await act({ kind: 'submit', user, viewId, values: valuesNow() });
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
              onFill={(next) => fill(block, next)}
              known={known(block)}
              search={(typed) => search(block, typed)}
            />
          )}
        />
      </form>
    </Dialog>
  );
}

function entryOf(block: Json, filled: readonly string[], options: readonly Option[]): [string, Json] {
  const element = objectOf(block.element);
  return [idOf(block), { [stringOf(element.action_id)]: stateOf(element, filled, options) }];
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
