package io.varve.server.persistence;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.zip.CRC32C;

import io.varve.memory.offheap.Memory;
import io.varve.server.resp.CommandScanner;
import io.varve.server.resp.RequestSink;
import org.jspecify.annotations.Nullable;

/**
 * Reads the commands of a file of the log: an increment of Varve's, whose blocks are checked before any of their
 * commands is read, or one that Redis has written. Confined to one thread.
 *
 * <p>The last file of a log may end in the middle, because the process or the machine has ended while it was written:
 * what is behind the last complete block, or command, or transaction, was never acknowledged as durable. All other
 * damage is an error.
 */
public final class LogReader {
    private static final int HEAD_BYTES = IncrementFile.HEAD.length() + IncrementFile.MARK_DIGITS + 2;
    private static final int MAX_LINE_BYTES = 128;
    /** Begins a line with the time, which Redis writes. */
    private static final String SECONDS = "#TS:";
    private static final long NONE = -1;
    private static final long INCOMPLETE = CommandScanner.INCOMPLETE;
    private static final long MALFORMED = CommandScanner.MALFORMED;
    private static final int CHECKED_BYTES = 1 << 20;
    private static final String UNENDED = "a transaction that does not end";

    private final Path file;
    private final MemorySegment bytes;
    private final long base;
    private final long length;
    private final boolean mayBeTorn;
    /** Whether the commands to come are in blocks. */
    private boolean hasBlocks;
    private final String mark;
    private long at;
    /** The end of the block that is being read; that of the file if it has no blocks. */
    private long blockEnd;
    private long timeMillis = NONE;
    /** Where the transaction begins that has not ended; {@link #NONE} outside of any. */
    private long transaction = NONE;
    private long torn;
    private long tornCommands;
    /** Where reading ended for a torn end. */
    private long stoppedAt;
    private long commands;
    private long blocks;
    private long transactions;
    /** The end of what a cut would leave as a complete file, and the commands before it. */
    private long intact;
    private long intactCommands;
    private final CommandScanner scanner = new CommandScanner();

    /**
     * @param from where the commands begin: behind an RDB file, if the file begins with one
     * @param mayBeTorn whether it is the last file of its log
     * @throws LogException if it is a file of Varve's, and its first line cannot be read
     */
    public LogReader(Path file, MemorySegment bytes, long from, boolean mayBeTorn) throws LogException {
        this.file = file;
        this.bytes = bytes;
        this.mayBeTorn = mayBeTorn;
        base = bytes.address();
        length = bytes.byteSize();
        mark = from == 0 && begins(0, IncrementFile.HEAD) ? markOfHead() : "";
        hasBlocks = !mark.isEmpty();
        at = hasBlocks ? HEAD_BYTES : from;
        blockEnd = hasBlocks ? at : length;
        if (!hasBlocks && from == 0 && begins(0, "#VARVE")) {
            throw new LogException(file, 0, "the first line is damaged, or of a later version of Varve");
        }
    }

    /** Reads on behind damage. */
    private LogReader(LogReader damaged, long from) {
        file = damaged.file;
        bytes = damaged.bytes;
        base = damaged.base;
        length = damaged.length;
        mark = damaged.mark;
        mayBeTorn = true;
        hasBlocks = true;
        at = from;
        blockEnd = from;
    }

    private boolean begins(long offset, String text) {
        if (length - offset < text.length()) {
            return false;
        }
        for (int i = 0; i < text.length(); i++) {
            if (Memory.getByte(base + offset + i) != text.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    /** The mark of the file; empty if the first line is not complete. */
    private String markOfHead() {
        if (length < HEAD_BYTES || !begins(HEAD_BYTES - 2, "\r\n")) {
            return "";
        }
        byte[] digits = Memory.toArray(base + IncrementFile.HEAD.length(), IncrementFile.MARK_DIGITS);
        return new String(digits, StandardCharsets.US_ASCII);
    }

    /** When the commands ran that were read last, milliseconds since the epoch; negative if that is not known. */
    public long timeMillis() {
        return timeMillis;
    }

    /** The offset of the next command. */
    public long offset() {
        return at;
    }

    public long length() {
        return length;
    }

    /** Commands read so far. */
    public long commands() {
        return commands;
    }

    /** Blocks read so far; 0 for a file without blocks. */
    public long blocks() {
        return blocks;
    }

    /** Complete transactions read so far. */
    public long transactions() {
        return transactions;
    }

    /** Bytes at the end of the file that are not a part of the log: known once all was read. */
    public long tornBytes() {
        return torn;
    }

    /** Commands of the transaction that the end of the file cuts off: known once all was read. */
    public long tornCommands() {
        return tornCommands;
    }

    /** Where the first bytes begin that could not be read: known once all was read and the end was torn. */
    public long stoppedAt() {
        return stoppedAt;
    }

    /** Bytes from the start of the file that would be a complete file: no block and no transaction is cut. */
    public long intactBytes() {
        return intact;
    }

    /** Commands in the intact bytes. */
    public long intactCommands() {
        return intactCommands;
    }

    /**
     * A reader of the intact blocks behind damage, for counting what is lost with it. Its own end may be torn.
     *
     * @param damage where the damage begins
     * @return null if no intact block follows, or the file has no blocks
     */
    public @Nullable LogReader behind(long damage) {
        long next = hasBlocks ? intactBlock(damage, 0) : NONE;
        return next == NONE ? null : new LogReader(this, next);
    }

    /**
     * Reads commands into an empty sink, all of one time, until it is full. After MULTI, EXEC follows.
     *
     * @return false if there are no more
     * @throws LogException if the file is damaged
     */
    public boolean read(RequestSink sink) throws LogException {
        int read = 0;
        while (!sink.isFull()) {
            if (transaction == NONE && (at == blockEnd || !hasBlocks)) {
                intact = at;
                intactCommands = commands;
            }
            if (at == blockEnd && !nextBlock()) {
                return read > 0;
            }
            if (Memory.getByte(base + at) == '#') {
                if (read > 0) {
                    return true;
                }
                readLine();
                continue;
            }
            long end = skip(at);
            if (end < 0) {
                return damagedCommand(end) || read > 0;
            }
            if (!hasBlocks && transaction == NONE && isCommand("MULTI", at) && !isTransactionWhole(end)) {
                return read > 0;
            }
            scanner.give(sink);
            track(end);
            at = end;
            commands++;
            read++;
        }
        return true;
    }

    /** A command of a checked block is never damaged, unless its writer was wrong. */
    private boolean damagedCommand(long how) throws LogException {
        if (!hasBlocks && how == INCOMPLETE && mayBeTorn) {
            tornAt(at);
            return false;
        }
        throw new LogException(file, at, how == INCOMPLETE ? "a command ends with the file" : "expected a command");
    }

    private void tornAt(long offset) {
        torn = length - offset;
        stoppedAt = offset;
        at = offset;
        blockEnd = offset;
    }

    /**
     * Whether the transaction that begins here ends, in a file without blocks, which may stop anywhere. So its commands
     * can run as they are read.
     *
     * @param from the offset behind MULTI
     * @return false at a torn end of the file
     */
    private boolean isTransactionWhole(long from) throws LogException {
        long next = from;
        long read = 1;
        boolean isEnd = false;
        while (!isEnd) {
            long start = next;
            boolean isLine = start < length && Memory.getByte(base + start) == '#';
            next = isLine ? behindLine(start) : skip(start);
            if (next == INCOMPLETE) {
                tearTransaction(start, read);
                return false;
            }
            read += isLine ? 0 : 1;
            // Reading comes to what is malformed, and says where it is.
            isEnd = next == MALFORMED || !isLine && isCommand("EXEC", start);
        }
        skip(at);
        return true;
    }

    private long behindLine(long offset) {
        long i = offset;
        while (i < length && Memory.getByte(base + i) != '\n') {
            i++;
        }
        return i == length ? INCOMPLETE : i + 1;
    }

    private void tearTransaction(long stop, long read) throws LogException {
        if (!mayBeTorn) {
            throw new LogException(file, at, UNENDED);
        }
        tornCommands = read;
        torn = length - at;
        stoppedAt = stop;
        blockEnd = at;
    }

    /** Remembers where a transaction begins, for errors, and counts it when it ends. */
    private void track(long end) {
        if (end - at > MAX_LINE_BYTES) {
            return;
        }
        if (transaction == NONE && isCommand("MULTI", at)) {
            transaction = at;
        } else if (transaction != NONE && isCommand("EXEC", at)) {
            transaction = NONE;
            transactions++;
        }
    }

    private boolean isCommand(String name, long offset) {
        String text = "*1\r\n$" + name.length() + "\r\n";
        if (length - offset < text.length() + name.length() || !begins(offset, text)) {
            return false;
        }
        for (int i = 0; i < name.length(); i++) {
            if ((Memory.getByte(base + offset + text.length() + i) & ~0x20) != name.charAt(i)) {
                return false;
            }
        }
        return true;
    }

    // --- blocks

    /** @return false at the end of the log */
    private boolean nextBlock() throws LogException {
        if (torn > 0) {
            return false;
        }
        if (transaction != NONE) {
            // A block has whole transactions, or its writer was wrong.
            throw new LogException(file, transaction, UNENDED);
        }
        if (at == length) {
            return false;
        }
        if (!hasBlocks) {
            throw new IllegalStateException("the only block has been read");
        }
        long start = at;
        if (begins(start, "*") || begins(start, SECONDS)) {
            // Redis goes on writing in the last file of a log that it has loaded.
            hasBlocks = false;
            blockEnd = length;
            return true;
        }
        Head head = headAt(start);
        if (head != null && isIntact(head)) {
            at = head.from;
            blockEnd = head.from + head.length;
            blocks++;
            return true;
        }
        if (start == HEAD_BYTES && isBlockOfAnotherMark(start)) {
            // The first line is on disk before any block is written: no loss of power makes such a pair.
            throw new LogException(file, 0, "the first line, or the line of the first block, is damaged");
        }
        if (mayBeTorn && !isFollowedByProof(start)) {
            tornAt(start);
            return false;
        }
        throw new LogException(file, start, "the block of commands that begins here is damaged");
    }

    /**
     * The line before a block.
     *
     * @param from where the block begins
     * @param forced the bytes of the file that were on disk before the block was written
     */
    private record Head(long from, long length, long checksum, long forced) {}

    private @Nullable Head headAt(long offset) {
        String line = lineAt(offset);
        return line == null ? null : head(line, offset + line.length() + 1);
    }

    /** A line without its line feed; null if it is too long, or not complete. */
    private @Nullable String lineAt(long offset) {
        int end = (int) Math.min(MAX_LINE_BYTES, length - offset);
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < end; i++) {
            byte b = Memory.getByte(base + offset + i);
            if (b == '\n') {
                return line.toString();
            }
            line.append((char) (b & 0xff));
        }
        return null;
    }

    private boolean isBlockOfAnotherMark(long offset) {
        String line = lineAt(offset);
        return line != null && line.startsWith(IncrementFile.BLOCK) && !line.startsWith(IncrementFile.BLOCK + mark);
    }

    private @Nullable Head head(String line, long from) {
        String beginning = IncrementFile.BLOCK + mark + ":";
        if (!line.startsWith(beginning) || !line.endsWith("\r")) {
            return null;
        }
        String[] fields = line.substring(beginning.length(), line.length() - 1).split(":", -1);
        if (fields.length != 3) {
            return null;
        }
        try {
            Head head = new Head(from, Long.parseLong(fields[0]), Long.parseLong(fields[1], 16),
                    Long.parseLong(fields[2]));
            return head.length <= 0 || head.length > length - from ? null : head;
        } catch (NumberFormatException none) {
            return null;
        }
    }

    private boolean isIntact(Head head) {
        CRC32C checksum = new CRC32C();
        for (long done = 0; done < head.length; done += CHECKED_BYTES) {
            checksum.update(bytes.asSlice(head.from + done, Math.min(CHECKED_BYTES, head.length - done))
                    .asByteBuffer());
        }
        return checksum.getValue() == head.checksum;
    }

    /** Whether a later block says that the bytes at this offset were on disk when it was written. */
    private boolean isFollowedByProof(long offset) {
        return intactBlock(offset, offset + 1) != NONE;
    }

    /**
     * Finds an intact block.
     *
     * @param minForced how many bytes at least were on disk when it was written
     * @return its offset, which is greater than the given one; {@link #NONE} if there is none
     */
    private long intactBlock(long offset, long minForced) {
        for (long i = offset + 1; i < length - IncrementFile.BLOCK.length(); i++) {
            if (Memory.getByte(base + i) == '#' && begins(i, IncrementFile.BLOCK)) {
                Head head = headAt(i);
                if (head != null && head.forced >= minForced && head.forced <= i && isIntact(head)) {
                    return i;
                }
            }
        }
        return NONE;
    }

    /** A line that begins with {@code #}: a time, or something for people. */
    private void readLine() throws LogException {
        StringBuilder line = new StringBuilder();
        long i = at;
        while (i < blockEnd && Memory.getByte(base + i) != '\n' && i - at < MAX_LINE_BYTES) {
            line.append((char) (Memory.getByte(base + i++) & 0xff));
        }
        if (i == blockEnd && !hasBlocks && mayBeTorn) {
            tornAt(at);
            return;
        }
        if (i == blockEnd || i - at == MAX_LINE_BYTES) {
            throw new LogException(file, at, "a line that begins with # does not end");
        }
        String text = line.toString().trim();
        if (!hasBlocks && text.startsWith(IncrementFile.BLOCK)) {
            throw new LogException(file, at, "a block of commands, but the first line of the file is damaged");
        }
        if (text.startsWith(ChangeStream.TIME)) {
            try {
                timeMillis = Long.parseLong(text.substring(ChangeStream.TIME.length()));
            } catch (NumberFormatException none) {
                throw new LogException(file, at, "a time that is no number");
            }
        }
        at = i + 1;
    }

    // --- commands

    /** @return the offset after the command that begins here, or a negative number */
    private long skip(long offset) {
        long end = scanner.skip(base + offset, base + blockEnd);
        return end < 0 ? end : end - base;
    }
}
