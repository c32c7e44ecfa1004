package io.varve.server.recovery;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Key;
import io.varve.memory.item.ValueRun;
import io.varve.server.command.CommandTable;
import io.varve.server.command.batch.Batch;
import io.varve.server.command.batch.LastCommandLookup;
import io.varve.server.command.spec.CommandSpec;
import io.varve.server.resp.RequestSink;
import io.varve.server.resp.Shortage;
import org.jspecify.annotations.Nullable;

/**
 * Decides which thread of a load runs a command of the log, and adds those of its own thread to a batch. Confined to
 * that thread; all threads read the same commands, and so come to the same decisions without a word.
 *
 * <p>A command with one key belongs to the thread that has the key's shard. All others belong to the first thread, and
 * so do the commands after them for a while: the threads wait for each other before and after such a stretch.
 *
 * <p>MULTI and EXEC are left out: nobody reads meanwhile, the reader knows that a transaction has its end, and its
 * commands would otherwise need memory in the queue, however many they are.
 *
 * <pre>
 *            a command with any other number of keys
 *            --------------------------------------->
 *  DIVIDED                                            TOGETHER
 *            <---------------------------------------
 *              {@value #STRETCH} commands with one key in a row
 * </pre>
 */
final class CommandSplit implements RequestSink {
    /**
     * Two meetings of the threads take some ten microseconds, and a command about one. So this many commands between
     * meetings keep their cost below a tenth, whatever the log consists of.
     */
    static final int STRETCH = 256;
    /** After this many commands it is full, so that its thread also sees where it is if none of them is its own. */
    private static final int MAX_SEEN = 1024;
    private static final int INITIAL_ARGUMENTS = 64;
    private static final int MAX_KEPT_ARGUMENTS = 16 << 10;

    /** Whose a command is. */
    private enum Owner {
        ME, ANOTHER, EACH, FIRST
    }

    private final Batch batch;
    private final LastCommandLookup commands;
    private final @Nullable CommandSpec select;
    private final @Nullable CommandSpec multi;
    private final @Nullable CommandSpec exec;
    private final CacheSession session;
    private final int number;
    private final Key key = new Key();
    /** The threads that share the present file. */
    private int count = 1;
    private boolean together;
    /** Commands with one key since the last other one, while {@link #together}. */
    private int passed;
    private int seen;
    /** Whether the command that was read last waits until the threads have met. */
    private boolean isHeld;

    /** The command that was read last. */
    private @Nullable CommandSpec spec;
    private long[] addresses = new long[INITIAL_ARGUMENTS];
    private int[] lengths = new int[INITIAL_ARGUMENTS];
    private int arguments;

    /**
     * @param number of its thread, from 0
     * @param batch receives the commands that its thread has to run
     */
    CommandSplit(CommandTable table, CacheSession session, int number, Batch batch) {
        commands = new LastCommandLookup(table);
        select = table.find("select");
        multi = table.find("multi");
        exec = table.find("exec");
        this.session = session;
        this.number = number;
        this.batch = batch;
    }

    /**
     * Begins a file.
     *
     * @param threads that share it
     */
    void begin(int threads) {
        count = threads;
        together = false;
        isHeld = false;
    }

    /** Begins a batch. */
    void beginBatch() {
        seen = 0;
    }

    /** Whether the threads have to meet, after they have run what is in their batches. */
    boolean isMeetingDue() {
        return isHeld;
    }

    /** Whether a stretch of the first thread is in progress. */
    boolean isTogether() {
        return together;
    }

    /** Whether its thread is the one that runs the commands of a stretch. */
    boolean isFirst() {
        return number == 0;
    }

    /** The threads have met: a stretch of the first one begins, or has ended. */
    void met() {
        isHeld = false;
        together = !together;
        passed = 0;
        if (together ? number == 0 : owner() != Owner.ANOTHER) {
            take();
        }
    }

    @Override
    public void beginRequest(int count) {
        arguments = 0;
        if (count > addresses.length || addresses.length > MAX_KEPT_ARGUMENTS) {
            addresses = new long[Math.max(count, INITIAL_ARGUMENTS)];
            lengths = new int[addresses.length];
        }
    }

    @Override
    public void argument(long address, int length) {
        addresses[arguments] = address;
        lengths[arguments++] = length;
    }

    @Override
    public void endRequest(Shortage shortage) {
        seen++;
        spec = commands.find(addresses[0], lengths[0]);
        if (spec != null && (spec == multi || spec == exec)) {
            return;
        }
        if (count == 1) {
            take();
            return;
        }
        Owner owner = owner();
        if (together) {
            passed = owner == Owner.FIRST ? 0 : passed + 1;
            isHeld = passed == STRETCH;
            if (!isHeld && number == 0) {
                take();
            }
        } else if (owner == Owner.FIRST) {
            isHeld = true;
        } else if (owner != Owner.ANOTHER) {
            take();
        }
    }

    @Override
    public boolean isFull() {
        return isHeld || seen >= MAX_SEEN || batch.isFull();
    }

    @Override
    public void runArgument(ValueRun run) {
        throw new IllegalStateException("the arguments are in the file");
    }

    @Override
    public void abandonRequest() {
        throw new IllegalStateException("only complete commands are read");
    }

    private Owner owner() {
        CommandSpec found = spec;
        if (found == null) {
            return Owner.FIRST;
        }
        if (found == select) {
            return Owner.EACH;
        }
        if (!found.isPlain() || !found.namesKeys() || found.keyFinder() != null || found.otherKeys() != null
                || !found.acceptsCount(arguments)) {
            return Owner.FIRST;
        }
        int first = found.firstKey();
        int last = found.lastKey() < 0 ? arguments + found.lastKey() : found.lastKey();
        if (first != last) {
            return Owner.FIRST;
        }
        session.bind(key, 0, addresses[first], lengths[first]);
        return key.shard() % count == number ? Owner.ME : Owner.ANOTHER;
    }

    private void take() {
        batch.beginRequest(arguments);
        for (int i = 0; i < arguments; i++) {
            batch.argument(addresses[i], lengths[i]);
        }
        batch.endRequest(Shortage.NONE);
    }
}
