package io.varve.server.command;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import org.jspecify.annotations.Nullable;

/**
 * What is done for all commands of a batch before the first of them runs: they are looked up, their keys are bound, and
 * what they will need is read ahead. Confined to its event loop.
 */
public final class BatchPreparation {
    private final ServerContext server;
    private final CommandTable table;
    private final CacheSession session;
    private long lastName;
    private int lastLength;
    private @Nullable CommandSpec lastFound;

    public BatchPreparation(ServerContext server, CommandTable table, CacheSession session) {
        this.server = server;
        this.table = table;
        this.session = session;
    }

    /** Looks the commands up, binds their keys and touches what they will need. */
    public void prepare(Batch batch, int database) {
        batch.clearKeys();
        for (int i = 0; i < batch.commandCount(); i++) {
            CommandSpec spec = lookUp(batch, i);
            batch.spec(i, spec);
            // Of every command, those without keys too: what is left of a batch is counted from where a command's keys begin.
            batch.beginKeys(i);
            if (spec != null && spec.acceptsCount(batch.argumentCount(i))) {
                bindKeys(batch, i, spec, database, i == batch.commandCount() - 1);
            }
        }
        int keys = batch.boundKeys();
        if (keys > 1 && server.config().touchAhead()) {
            session.touch(batch.keys(), keys);
        }
    }

    private @Nullable CommandSpec lookUp(Batch batch, int command) {
        int first = batch.firstArgument(command);
        CommandSpec spec = find(batch.address(first), batch.length(first));
        if (spec != null && spec.hasSubcommands() && batch.argumentCount(command) > 1) {
            CommandSpec child = CommandTable.findSubcommand(spec, batch.address(first + 1), batch.length(first + 1));
            return child == null ? spec : child;
        }
        return spec;
    }

    /** Most often a command has the name of the one before it. */
    private @Nullable CommandSpec find(long address, int length) {
        long name = length > Long.BYTES || length < Integer.BYTES - 1 ? 0 : nameOf(address, length);
        if (name != 0 && name == lastName && length == lastLength) {
            return lastFound;
        }
        lastName = name;
        lastLength = length;
        lastFound = table.find(address, length);
        return lastFound;
    }

    /** All bytes of a name of 3 to 8 bytes. */
    private static long nameOf(long address, int length) {
        return length == 3
                ? (Memory.getShort(address) & 0xFFFF) << Byte.SIZE | Memory.getByte(address + 2) & 0xFF
                : (long) Memory.getInt(address) << Integer.SIZE
                        | Memory.getInt(address + length - Integer.BYTES) & 0xFFFF_FFFFL;
    }

    /**
     * Binds the keys of one command; where the heap has no room for them, the command is refused.
     *
     * @param mayInTurn whether very many may be bound in turn: nothing is added to the batch behind the command
     */
    void bindKeys(Batch batch, int command, CommandSpec spec, int database, boolean mayInTurn) {
        KeyFinder finder = spec.keyFinder();
        if (finder != null) {
            if (!batch.reserveKeys(command, batch.argumentCount(command), server.argumentMemory())) {
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
        if (mayInTurn && Batch.areMany(keys) && spec.takesKeysInTurn()) {
            batch.addKeysInTurn(command, new KeysInTurn(session, database, first, spec.keyStep(), keys));
            return;
        }
        if (!batch.reserveKeys(command, keys, server.argumentMemory())) {
            return;
        }
        for (int i = first; i < end; i += spec.keyStep()) {
            bindKey(batch, command, i, database);
        }
    }

    /** Binds the keys of a command anew if its client has selected another database since they were bound. */
    public static void rebind(CacheSession session, Batch batch, int command, int database) {
        int first = batch.firstKey(command);
        int keys = batch.keyCount(command);
        KeysInTurn inTurn = batch.keysInTurn(first);
        if (inTurn != null) {
            inTurn.database(database);
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
