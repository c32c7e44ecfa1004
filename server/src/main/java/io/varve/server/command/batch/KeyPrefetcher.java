package io.varve.server.command.batch;

import java.util.function.BooleanSupplier;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Key;
import io.varve.server.command.spec.CommandLookup;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.spec.KeyFinder;
import io.varve.server.resp.RequestHeapBudget;
import org.jspecify.annotations.Nullable;

/**
 * Prepares all commands of a batch before the first one runs: finds their specs, binds their keys, and prefetches the
 * memory they will need. Confined to its event loop.
 */
public final class KeyPrefetcher {
    private final LastCommandLookup commands;
    private final RequestHeapBudget argumentMemory;
    private final BooleanSupplier touchAhead;
    private final CacheSession session;

    /**
     * @param argumentMemory the heap budget for the keys of giant requests
     * @param touchAhead whether keys are prefetched
     */
    public KeyPrefetcher(CommandLookup table, CacheSession session, RequestHeapBudget argumentMemory,
            BooleanSupplier touchAhead) {
        commands = new LastCommandLookup(table);
        this.argumentMemory = argumentMemory;
        this.touchAhead = touchAhead;
        this.session = session;
    }

    /** Finds the specs of the commands, binds their keys, and touches the memory they will need. */
    public void prepare(Batch batch, int database) {
        batch.clearKeys();
        for (int i = 0; i < batch.commandCount(); i++) {
            CommandSpec spec = lookUp(batch, i);
            batch.spec(i, spec);
            // Also for commands without keys: the remainder of a batch is counted from the first key of a command.
            batch.beginKeys(i);
            if (spec != null && spec.acceptsCount(batch.argumentCount(i))) {
                bindKeys(batch, i, spec, database, i == batch.commandCount() - 1);
            }
        }
        int keys = batch.boundKeys();
        if (keys > 1 && touchAhead.getAsBoolean()) {
            session.touch(batch.keys(), keys);
        }
    }

    private @Nullable CommandSpec lookUp(Batch batch, int command) {
        int first = batch.firstArgument(command);
        CommandSpec spec = commands.find(batch.address(first), batch.length(first));
        if (spec != null && spec.hasSubcommands() && batch.argumentCount(command) > 1) {
            CommandSpec child = spec.subcommand(batch.address(first + 1), batch.length(first + 1));
            return child == null ? spec : child;
        }
        return spec;
    }

    /**
     * Binds the keys of one command; refuses the command if the heap budget has no space for them.
     *
     * @param mayBindOnDemand whether very many keys may be bound on demand: no command follows in the batch
     */
    public void bindKeys(Batch batch, int command, CommandSpec spec, int database, boolean mayBindOnDemand) {
        KeyFinder finder = spec.keyFinder();
        if (finder != null) {
            if (!batch.reserveKeys(command, batch.argumentCount(command), argumentMemory)) {
                return;
            }
            finder.find(new BatchArguments(batch, command), index -> bindKey(batch, command, index, database));
            return;
        }
        if (!spec.namesKeys()) {
            return;
        }
        int first = spec.firstKey();
        int count = batch.argumentCount(command);
        int last = spec.lastKey() < 0 ? count + spec.lastKey() : spec.lastKey();
        int end = Math.min(last + 1, count);
        int keys = (end - first + spec.keyStep() - 1) / spec.keyStep();
        if (mayBindOnDemand && Batch.shouldBindOnDemand(keys) && spec.has(CommandTrait.KEYS_ON_DEMAND)) {
            batch.addOnDemandKeys(command, new OnDemandKeys(session, database, first, spec.keyStep(), keys));
            return;
        }
        if (!batch.reserveKeys(command, keys, argumentMemory)) {
            return;
        }
        for (int i = first; i < end; i += spec.keyStep()) {
            bindKey(batch, command, i, database);
        }
    }

    /** Rebinds the keys of a command if its client has selected another database since they were bound. */
    public static void rebind(CacheSession session, Batch batch, int command, int database) {
        int first = batch.firstKey(command);
        int keys = batch.keyCount(command);
        OnDemandKeys onDemand = batch.onDemandKeys(first);
        if (onDemand != null) {
            onDemand.database(database);
        } else if (keys > 0 && batch.key(first).database() != database) {
            for (int i = first; i < first + keys; i++) {
                Key key = batch.key(i);
                session.bind(key, database, key.address(), key.length());
            }
        }
    }

    private void bindKey(Batch batch, int command, int index, int database) {
        Key key = batch.addKey(command, index);
        int argument = batch.firstArgument(command) + index;
        session.bind(key, database, batch.address(argument), batch.length(argument));
    }
}
