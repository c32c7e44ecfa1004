package io.varve.server.persistence;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;

import io.varve.memory.CacheSession;
import io.varve.memory.item.Key;
import io.varve.memory.offheap.Memory;
import io.varve.server.resp.Numbers;
import io.varve.server.system.NativeMemory;
import org.jspecify.annotations.Nullable;

/**
 * Encodes the commands that reproduce changes, and appends them to the {@link ChangeStream}: each at its end, those of
 * a transaction together. Called under the locks of the changed shards. Confined to one thread.
 */
public final class ChangeRecorder implements AutoCloseable {
    /** The recorder of the transaction that a thread runs. */
    private static final ThreadLocal<ChangeRecorder> IN_TRANSACTION = new ThreadLocal<>();
    private static final byte[] MULTI = "*1\r\n$5\r\nMULTI\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final byte[] EXEC = "*1\r\n$4\r\nEXEC\r\n".getBytes(StandardCharsets.US_ASCII);
    private static final int FIRST_BYTES = 4 << 10;
    /** A larger buffer is not kept. */
    private static final int KEPT_BYTES = 1 << 20;
    /** The longest head of an array or a bulk: a letter, digits, a line end. */
    private static final int HEAD_BYTES = 1 + Numbers.MAX_LONG_CHARS + 2;
    private static final short LINE_END = '\r' | '\n' << 8;

    private final ChangeStream stream;
    private final CacheSession session;
    private @Nullable NativeMemory owner;
    private MemorySegment memory = MemorySegment.NULL;
    private long used;
    /** Where the command begins that is being encoded. */
    private long begun;
    private int begunDatabase;
    private int firstDatabase;
    private int lastDatabase;
    private int commands;
    private boolean inTransaction;
    private boolean isPaused;
    private long offset;

    /** @param session the session of its thread, whose time the records carry */
    public ChangeRecorder(ChangeStream stream, CacheSession session) {
        this.stream = stream;
        this.session = session;
    }

    /** Whether changes are recorded. It does not change while the caller holds a shard. */
    public boolean isOn() {
        return !isPaused && stream.isOn();
    }

    /** Sets whether changes are left out: a script may ask for that. */
    public void pause(boolean value) {
        isPaused = value;
    }

    /** The offset after the commands that were appended last. */
    public long offset() {
        return offset;
    }

    /** The recorder of the transaction that the calling thread runs; null if it runs none. */
    static @Nullable ChangeRecorder ofTransaction() {
        return IN_TRANSACTION.get();
    }

    /**
     * Begins a command; one that was begun and not ended is dropped.
     *
     * @param arguments their number, the name among them
     */
    public ChangeRecorder begin(int database, int arguments) {
        beginCommand(database);
        require(HEAD_BYTES);
        head('*', arguments);
        return this;
    }

    private void beginCommand(int database) {
        if (commands == 0) {
            // Room for MULTI, which is left out if there is only one command.
            used = MULTI.length;
            firstDatabase = database;
            lastDatabase = database;
        } else {
            used = begun;
        }
        begun = used;
        begunDatabase = database;
        if (database != lastDatabase) {
            require(HEAD_BYTES);
            head('*', 2);
            argument(RecordedCommand.SELECT);
            argument(database);
        }
    }

    /** Records a command as it was received: its bytes are what this class would encode. */
    public void received(int database, long address, long length) {
        if (!inTransaction) {
            offset = stream.append(database, database, session.now(), address, length);
            return;
        }
        beginCommand(database);
        require(length);
        Memory.copy(address, memory.address() + used, length);
        used += length;
        end();
    }

    /** Begins a command with this name. */
    public ChangeRecorder begin(int database, RecordedCommand name, int arguments) {
        return begin(database, arguments).argument(name);
    }

    public ChangeRecorder argument(RecordedCommand word) {
        byte[] bytes = word.bytes();
        require(HEAD_BYTES + bytes.length + 2L);
        head('$', bytes.length);
        Memory.copy(bytes, 0, memory.address() + used, bytes.length);
        used += bytes.length;
        endLine();
        return this;
    }

    public ChangeRecorder argument(Key key) {
        return argument(key.address(), key.length());
    }

    public ChangeRecorder argument(long address, int length) {
        require(HEAD_BYTES + length + 2L);
        head('$', length);
        Memory.copy(address, memory.address() + used, length);
        used += length;
        endLine();
        return this;
    }

    /** A number in decimal digits. */
    public ChangeRecorder argument(long value) {
        require(2 * HEAD_BYTES);
        head('$', Numbers.longChars(value));
        used += Numbers.putLong(memory.address() + used, value);
        endLine();
        return this;
    }

    /** Ends a command, and appends it unless it is part of a transaction. */
    public void end() {
        lastDatabase = begunDatabase;
        begun = used;
        commands++;
        if (!inTransaction) {
            append();
        }
    }

    /** Begins a transaction of all changes until {@link #endTransaction}. */
    public void beginTransaction() {
        inTransaction = true;
        IN_TRANSACTION.set(this);
    }

    /**
     * Appends the commands of a transaction.
     *
     * @return the offset after them; 0 if there are none
     */
    public long endTransaction() {
        inTransaction = false;
        IN_TRANSACTION.remove();
        if (commands == 0) {
            return 0;
        }
        append();
        return offset;
    }

    private void append() {
        // Without a command that was begun and not ended.
        used = begun;
        long from = memory.address();
        if (commands == 1) {
            from += MULTI.length;
        } else {
            Memory.copy(MULTI, 0, from, MULTI.length);
            require(EXEC.length);
            from = memory.address();
            Memory.copy(EXEC, 0, from + used, EXEC.length);
            used += EXEC.length;
        }
        offset = stream.append(firstDatabase, lastDatabase, session.now(), from, memory.address() + used - from);
        commands = 0;
        if (memory.byteSize() > KEPT_BYTES) {
            close();
        }
    }

    private void head(char type, long number) {
        Memory.putByte(memory.address() + used++, (byte) type);
        used += Numbers.putLong(memory.address() + used, number);
        endLine();
    }

    private void endLine() {
        Memory.putShort(memory.address() + used, LINE_END);
        used += 2;
    }

    private void require(long more) {
        long needed = used + more;
        if (needed > memory.byteSize()) {
            NativeMemory grown = new NativeMemory();
            MemorySegment larger;
            try {
                larger = grown.allocate(Math.max(FIRST_BYTES, needed + needed / 2));
            } catch (OutOfMemoryError none) {
                stream.fail(none);
                throw none;
            }
            MemorySegment.copy(memory, 0, larger, 0, Math.min(used, memory.byteSize()));
            if (owner != null) {
                owner.close();
            }
            owner = grown;
            memory = larger;
        }
    }

    /** Frees its memory; a later command allocates anew. */
    @Override
    public void close() {
        if (owner != null) {
            owner.close();
            owner = null;
        }
        memory = MemorySegment.NULL;
        used = 0;
    }
}
