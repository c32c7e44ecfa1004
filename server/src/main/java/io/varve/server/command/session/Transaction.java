package io.varve.server.command.session;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;

import io.varve.memory.Cache;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.batch.BatchArguments;
import io.varve.server.command.batch.KeyPrefetcher;
import io.varve.server.command.batch.ScriptUse;
import io.varve.server.command.spec.CommandFlag;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.command.spec.CommandTrait;
import io.varve.server.command.spec.ScriptDeclaration;
import io.varve.server.command.text.DatabaseNumber;
import io.varve.server.resp.RequestHeapBudget;
import io.varve.server.resp.Shortage;

/**
 * The commands that a client has queued since MULTI. Confined to its event loop. It is a batch whose arguments have
 * their own memory, charged to maxmemory; its heap objects are charged to {@link RequestHeapBudget}.
 */
public final class Transaction {
    /** Most transactions fit. */
    static final int FIRST_BLOCK_BYTES = 4 << 10;
    public static final int BLOCK_BYTES = 64 << 10;
    /** Initial heap size of the batch's tables, bytes. */
    static final int HEAP_BYTES = 10 << 10;
    private static final int HEAP_BYTES_OF_COMMAND = 64;
    private static final int HEAP_BYTES_OF_ARGUMENT = 64;
    /** Heap bytes to record that a key is not on flash in another database. */
    private static final int HEAP_BYTES_PER_OTHER_DATABASE_KEY = 32;

    private static final Set<String> REPEATABLE = Set.of("ping", "echo", "select", "time");

    private final Cache cache;
    private final RequestHeapBudget memory;
    private final TransactionMemory pool;
    private final Batch batch;
    private final List<ValueRun> blocks = new ArrayList<>();
    private long at;
    private long end;
    private long charged;
    private long argumentBytes;
    /** The database selected at MULTI. */
    private final int firstDatabase;
    /** The database of the next queued command, provided that each SELECT before it succeeds. */
    private int database;
    /** The databases that queued commands select. */
    private final BitSet selected = new BitSet();
    private boolean failed;
    private boolean writes;
    private boolean declaresWrites;
    private boolean mayWrite;
    private boolean denyOom;
    private boolean namesNoKey;
    private boolean publishes;
    private boolean repeatable = true;
    private int flushes;
    private int reportedCommands;
    private long neededBytes;

    /**
     * @param pool the pool to which the batch returns
     * @param memory {@link #HEAP_BYTES} of it are already reserved for this transaction
     * @param database the database that the client has selected
     */
    Transaction(TransactionMemory pool, Batch batch, Cache cache, RequestHeapBudget memory, int database) {
        this.pool = pool;
        this.batch = batch;
        this.cache = cache;
        this.memory = memory;
        firstDatabase = database;
        this.database = database;
        charged = HEAP_BYTES;
    }

    /** The hashes of the queued keys. */
    public long[] keyHashes() {
        long[] hashes = new long[batch.keyTotal()];
        for (int i = 0; i < hashes.length; i++) {
            hashes[i] = batch.key(i).hash();
        }
        return hashes;
    }

    /** The queued commands. */
    public Batch batch() {
        return batch;
    }

    /** Number of queued commands. */
    public int size() {
        return batch.commandCount();
    }

    /** Marks the transaction as failed after a refused command and frees the queue, which will not be executed. */
    public void fail() {
        failed = true;
        release();
    }

    /** Whether a command was refused, so that EXEC runs nothing. */
    public boolean failed() {
        return failed;
    }

    /** Whether a command may change the keyspace. */
    public boolean writes() {
        return writes;
    }

    /** Whether a command runs a script that may write, by its header. */
    public boolean declaresWrites() {
        return declaresWrites;
    }

    /** Whether a command needs memory. */
    public boolean isDenyOom() {
        return denyOom;
    }

    /** Whether all commands can be re-run, because they only read. SELECT counts as such: its effect can be undone. */
    public boolean isRepeatable() {
        return repeatable;
    }

    /** Number of databases that the commands may flush. */
    public int flushes() {
        return flushes;
    }

    /** Whether a command uses keys that it does not name, so that the transaction locks all shards. */
    public boolean namesNoKey() {
        return namesNoKey;
    }

    /** Size of the queued commands, bytes: their arguments and their heap objects. */
    public long heldBytes() {
        return charged + argumentBytes;
    }

    /** Number of leading commands that monitors have seen, because the transaction may be re-run. */
    public int reportedCommands() {
        return reportedCommands;
    }

    /** See {@link #reportedCommands()}. */
    public void reportedCommands(int commands) {
        reportedCommands = Math.max(reportedCommands, commands);
    }

    /** Whether a command writes, or runs a script that may. */
    public boolean mayWrite() {
        return mayWrite;
    }

    /** Whether a command publishes messages. */
    public boolean publishes() {
        return publishes;
    }

    /** Bytes that all commands together may write. */
    public long neededBytes() {
        return neededBytes;
    }

    /**
     * Queues a command and takes over its runs.
     *
     * @param needed bytes that it may write
     * @return the exhausted memory, or NONE
     */
    public Shortage add(Batch from, int command, CommandSpec spec, long needed, KeyPrefetcher prefetcher) {
        int first = from.firstArgument(command);
        int count = from.argumentCount(command);
        long heap = HEAP_BYTES_OF_COMMAND + (long) HEAP_BYTES_OF_ARGUMENT * count;
        if (!memory.tryReserve(heap)) {
            return Shortage.ARGUMENT_MEMORY;
        }
        charged += heap;
        int queued = batch.commandCount();
        batch.beginRequest(count);
        for (int i = first; i < first + count; i++) {
            argumentBytes += from.length(i);
            ValueRun run = from.takeRun(i, 0);
            if (run != null) {
                batch.runArgument(run);
            } else if (!copy(from.address(i), from.length(i))) {
                batch.endRequest(Shortage.MAXMEMORY);
                return Shortage.MAXMEMORY;
            }
        }
        batch.endRequest(Shortage.NONE);
        batch.spec(queued, spec);
        prefetcher.bindKeys(batch, queued, spec, database, false);
        if (batch.isRefused(queued) || !tryReserveForOtherDatabases(queued)) {
            return Shortage.ARGUMENT_MEMORY;
        }
        follow(queued);
        neededBytes += needed;
        ScriptDeclaration declared = ScriptUse.declaration(batch, queued);
        writes |= spec.isWrite();
        declaresWrites |= declared != null && declared.writes();
        mayWrite |= spec.isWrite() || spec.has(CommandTrait.RUNS_SCRIPT) && !spec.has(CommandFlag.READONLY);
        denyOom |= spec.isDenyOom() || declared != null && declared.needsMemory();
        repeatable &= isRepeatable(spec);
        flushes += flushesOf(spec, cache);
        publishes |= spec.has(CommandTrait.PUBLISHES);
        CommandSpec.OtherKeys others = spec.otherKeys();
        namesNoKey |= batch.keyCount(queued) == 0 && spec.worksOnKeys()
                || others != null && others.areUsed(new BatchArguments(batch, queued));
        return Shortage.NONE;
    }

    private boolean tryReserveForOtherDatabases(int command) {
        long heap = (long) HEAP_BYTES_PER_OTHER_DATABASE_KEY * batch.keyCount(command) * (databases() - 1);
        boolean taken = heap == 0 || memory.tryReserve(heap);
        charged += taken ? heap : 0;
        return taken;
    }

    /** SELECT is repeatable because its effect can be undone. */
    public static boolean isRepeatable(CommandSpec spec) {
        return spec.has(CommandFlag.READONLY) || REPEATABLE.contains(spec.fullName());
    }

    /** The databases that a command may flush, at most. */
    public static int flushesOf(CommandSpec spec, Cache cache) {
        return switch (spec.fullName()) {
            case "flushall" -> cache.config().databases();
            case "flushdb" -> 1;
            default -> 0;
        };
    }

    /** Tracks a SELECT: the keys of the following commands are in its database, provided that it succeeds. */
    private void follow(int command) {
        int now = selectedBy(command);
        if (now >= 0) {
            database = now;
            selected.set(now);
        }
    }

    /**
     * The database that a command selects, provided that the client may still do so at EXEC; -1 if it is no valid
     * SELECT.
     */
    public int selectedBy(int command) {
        CommandSpec spec = java.util.Objects.requireNonNull(batch.spec(command));
        if (!spec.name().equals("select") || spec.parent() != null) {
            return -1;
        }
        int argument = batch.firstArgument(command) + 1;
        return DatabaseNumber.of(cache.config().databases(), batch.address(argument), batch.length(argument));
    }

    /** Whether a command selects a database. */
    public boolean selects() {
        return !selected.isEmpty();
    }

    /** Number of databases in which the commands may run. */
    public int databases() {
        return selected.cardinality() + (selected.get(firstDatabase) ? 0 : 1);
    }

    /** The database of the first command. */
    public int firstDatabase() {
        return firstDatabase;
    }

    private boolean copy(long address, int length) {
        if (end - at < length) {
            ValueRun block = blocks.isEmpty() && length <= FIRST_BLOCK_BYTES
                    ? pool.firstBlock()
                    : cache.newRun(0, Math.max(BLOCK_BYTES, length));
            if (block == null) {
                return false;
            }
            blocks.add(block);
            at = block.address();
            end = at + block.length();
        }
        Memory.copy(address, at, length);
        batch.argument(at, length);
        at += length;
        return true;
    }

    /** Releases everything; call it once. */
    public void end() {
        release();
        pool.returnBatch(batch);
    }

    private void release() {
        batch.clear();
        pool.returnBlocks(blocks);
        blocks.clear();
        at = 0;
        end = 0;
        memory.release(charged);
        charged = 0;
        argumentBytes = 0;
    }
}
