package io.varve.server.command;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Set;

import io.varve.memory.Cache;
import io.varve.memory.item.ValueRun;
import io.varve.memory.offheap.Memory;
import io.varve.server.resp.ArgumentMemory;
import io.varve.server.resp.Shortage;

/**
 * The commands that a client has queued since MULTI: a batch whose arguments have memory of their own, charged to maxmemory, with
 * what stands around them on the heap charged to {@link ArgumentMemory}. Confined to its event loop.
 */
public final class Transaction {
    /** Most transactions fit. */
    static final int FIRST_BLOCK_BYTES = 4 << 10;
    public static final int BLOCK_BYTES = 64 << 10;
    /** The batch's tables as they begin. */
    static final int HEAP_BYTES = 10 << 10;
    private static final int HEAP_BYTES_OF_COMMAND = 64;
    private static final int HEAP_BYTES_OF_ARGUMENT = 64;
    /** What it takes to know that a key is not on flash in one more database. */
    private static final int HEAP_BYTES_OF_KEY_ELSEWHERE = 32;

    private static final Set<String> REPEATABLE = Set.of("ping", "echo", "select", "time");

    private final Cache cache;
    private final ArgumentMemory memory;
    private final TransactionMemory lender;
    private final Batch batch;
    private final List<ValueRun> blocks = new ArrayList<>();
    private long at;
    private long end;
    private long charged;
    private long argumentBytes;
    /** That the client has selected. */
    private final int firstDatabase;
    /** In which what is queued next runs, if each SELECT before it does. */
    private int database;
    /** Those that commands select. */
    private final BitSet selected = new BitSet();
    private boolean failed;
    private boolean writes;
    private boolean denyOom;
    private boolean namesNoKey;
    private boolean publishes;
    private boolean repeatable = true;
    private int flushes;
    private int told;
    private long neededBytes;

    /**
     * @param lender   lends the batch
     * @param memory   of which {@link #HEAP_BYTES} have been taken for it
     * @param database that the client has selected
     */
    Transaction(TransactionMemory lender, Batch batch, Cache cache, ArgumentMemory memory, int database) {
        this.lender = lender;
        this.batch = batch;
        this.cache = cache;
        this.memory = memory;
        firstDatabase = database;
        this.database = database;
        charged = HEAP_BYTES;
    }

    /** The hashes of the keys that are queued. */
    public long[] keyHashes() {
        long[] hashes = new long[batch.keyTotal()];
        for (int i = 0; i < hashes.length; i++) {
            hashes[i] = batch.key(i).hash();
        }
        return hashes;
    }

    /** What is queued. */
    public Batch batch() {
        return batch;
    }

    /** How many commands are queued. */
    public int size() {
        return batch.commandCount();
    }

    /** A command was refused: nothing is to be executed, so nothing is kept. */
    public void fail() {
        failed = true;
        release();
    }

    /** Whether a command was refused: nothing is to be executed. */
    public boolean failed() {
        return failed;
    }

    /** Whether a command may change the key space. */
    public boolean writes() {
        return writes;
    }

    /** Whether a command needs room. */
    public boolean isDenyOom() {
        return denyOom;
    }

    /** Whether commands but read, so that all of them may be run again. */
    public boolean isRepeatable() {
        return repeatable;
    }

    /** How many databases the commands may flush. */
    public int flushes() {
        return flushes;
    }

    /** Whether a command works on keys that it does not name: the locks of all shards are its. */
    public boolean namesNoKey() {
        return namesNoKey;
    }

    /** What its commands take, bytes: their arguments, and what stands around them on the heap. */
    public long heldBytes() {
        return charged + argumentBytes;
    }

    /** The commands in front of this one have run, and monitors know: it may be run again. */
    public int told() {
        return told;
    }

    /** See {@link #told()}. */
    public void told(int commands) {
        told = Math.max(told, commands);
    }

    /** Whether a command leaves messages for others. */
    public boolean publishes() {
        return publishes;
    }

    /** What all of them may write, bytes. */
    public long neededBytes() {
        return neededBytes;
    }

    /**
     * Queues a command, whose runs are taken over.
     *
     * @param needed bytes that it may write
     * @return the memory that had no room for it, or NONE
     */
    public Shortage add(Batch from, int command, CommandSpec spec, long needed, BatchPreparation preparation) {
        int first = from.firstArgument(command);
        int count = from.argumentCount(command);
        long heap = HEAP_BYTES_OF_COMMAND + (long) HEAP_BYTES_OF_ARGUMENT * count;
        if (!memory.take(heap)) {
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
        preparation.bindKeys(batch, queued, spec, database, false);
        if (batch.isRefused(queued) || !takeForKeysElsewhere(queued)) {
            return Shortage.ARGUMENT_MEMORY;
        }
        follow(queued);
        neededBytes += needed;
        writes |= spec.isWrite();
        denyOom |= spec.isDenyOom();
        repeatable &= isRepeatable(spec);
        flushes += flushes(spec);
        publishes |= spec.publishes();
        CommandSpec.OtherKeys others = spec.otherKeys();
        namesNoKey |= batch.keyCount(queued) == 0 && spec.worksOnKeys()
                || others != null && others.areUsed(new BatchArguments(batch, queued));
        return Shortage.NONE;
    }

    private boolean takeForKeysElsewhere(int command) {
        long heap = (long) HEAP_BYTES_OF_KEY_ELSEWHERE * batch.keyCount(command) * (databases() - 1);
        boolean taken = heap == 0 || memory.take(heap);
        charged += taken ? heap : 0;
        return taken;
    }

    /** What SELECT changes can be taken back. */
    public static boolean isRepeatable(CommandSpec spec) {
        return spec.has(CommandFlag.READONLY) || REPEATABLE.contains(spec.fullName());
    }

    private int flushes(CommandSpec spec) {
        return switch (spec.fullName()) {
            case "flushall" -> cache.config().databases();
            case "flushdb" -> 1;
            default -> 0;
        };
    }

    /** The keys of the commands behind a SELECT are in the database that it selects, if it will. */
    private void follow(int command) {
        int now = selectedBy(command);
        if (now >= 0) {
            database = now;
            selected.set(now);
        }
    }

    /** The database that a command selects, if its client may still do that when it runs; -1 if it is to select none. */
    int selectedBy(int command) {
        CommandSpec spec = java.util.Objects.requireNonNull(batch.spec(command));
        if (!spec.name().equals("select") || spec.parent() != null) {
            return -1;
        }
        int argument = batch.firstArgument(command) + 1;
        return DatabaseNumber.of(cache.config().databases(), batch.address(argument), batch.length(argument));
    }

    /** Whether a command selects a database. */
    boolean selects() {
        return !selected.isEmpty();
    }

    /** In how many databases its commands may run. */
    public int databases() {
        return selected.cardinality() + (selected.get(firstDatabase) ? 0 : 1);
    }

    /** In which its first command runs. */
    int firstDatabase() {
        return firstDatabase;
    }

    private boolean copy(long address, int length) {
        if (end - at < length) {
            ValueRun block = blocks.isEmpty() && length <= FIRST_BLOCK_BYTES
                    ? lender.firstBlock()
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

    /** Gives everything back: once. */
    void end() {
        release();
        lender.giveBack(batch);
    }

    private void release() {
        batch.clear();
        lender.giveBack(blocks);
        blocks.clear();
        at = 0;
        end = 0;
        memory.give(charged);
        charged = 0;
        argumentBytes = 0;
    }
}
