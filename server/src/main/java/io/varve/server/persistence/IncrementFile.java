package io.varve.server.persistence;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.zip.CRC32C;

import io.varve.server.persistence.ChangeStream.Block;
import io.varve.server.persistence.ChangeStream.Section;

/**
 * An increment of the log: blocks of commands. The first line has a random number, the file's mark. Before each block
 * is a line, which Redis skips: {@code #B:0123456789abcdef:1234:89abcdef:100}. It has the mark, the block's length, its
 * CRC-32C in hexadecimal digits, and how many bytes of the file were on disk when the block was written. Confined to
 * one thread.
 *
 * <p>So a block that is torn because power was lost is told from one that was damaged later: the latter is followed by
 * a block that was written when it was on disk. No value of a client can look like such a line, because it cannot know
 * the mark.
 */
final class IncrementFile implements AutoCloseable {
    /** Begins the first line, before the mark. */
    static final String HEAD = "#VARVE:1:";
    /** Hexadecimal digits of a mark. */
    static final int MARK_DIGITS = 16;
    /** Begins the line before a block. */
    static final String BLOCK = "#B:";
    /** Begins a line with the time in seconds, as Redis writes it. */
    private static final String SECONDS = "#TS:";
    private static final int MAX_JOINED_BYTES = 64 << 10;

    private final Disk.Output output;
    private final String mark;
    private final CRC32C checksum = new CRC32C();
    private final ByteBuffer joined = ByteBuffer.allocateDirect(MAX_JOINED_BYTES);
    private long bytes;
    private long forcedBytes;
    private long annotatedSeconds = -1;
    /** Whether a part of a block may be behind {@link #bytes}. */
    private boolean torn;

    private IncrementFile(Disk.Output output, String mark) {
        this.output = output;
        this.mark = mark;
    }

    static IncrementFile create(Disk disk, Path file) throws IOException {
        Disk.Output output = disk.create(file);
        try {
            String mark = HexFormat.of().toHexDigits(new SecureRandom().nextLong());
            byte[] head = (HEAD + mark + "\r\n").getBytes(StandardCharsets.US_ASCII);
            output.write(ByteBuffer.wrap(head));
            IncrementFile created = new IncrementFile(output, mark);
            created.bytes = head.length;
            created.force();
            return created;
        } catch (IOException failed) {
            output.close();
            throw failed;
        }
    }

    /**
     * Writes a block.
     *
     * @param seconds the time to note in front of the commands, since the epoch; negative: none
     * @throws IOException if it is not in the file as a whole: the file then ends before it, if the disk allows
     */
    void write(Section section, long seconds) throws IOException {
        byte[] note = seconds >= 0 && seconds != annotatedSeconds
                ? (SECONDS + seconds + "\r\n").getBytes(StandardCharsets.US_ASCII)
                : new byte[0];
        checksum.reset();
        checksum.update(note, 0, note.length);
        for (Block block : section.blocks) {
            checksum.update(bytes(block));
        }
        long length = note.length + section.bytes;
        byte[] head = (BLOCK + mark + ":" + length + ":" + Long.toHexString(checksum.getValue()) + ":" + forcedBytes
                + "\r\n")
                .getBytes(StandardCharsets.US_ASCII);
        if (torn) {
            output.truncate(bytes);
        }
        torn = true;
        try {
            // One call for a short block: it is in the file or not, if only the process ends.
            if (section.blocks.size() == 1 && head.length + length <= MAX_JOINED_BYTES) {
                joined.clear();
                joined.put(head).put(note).put(bytes(section.blocks.getFirst())).flip();
                output.write(joined);
            } else {
                output.write(ByteBuffer.wrap(head));
                output.write(ByteBuffer.wrap(note));
                for (Block block : section.blocks) {
                    output.write(bytes(block));
                }
            }
        } catch (IOException failed) {
            cutTo(bytes, failed);
            throw failed;
        }
        torn = false;
        annotatedSeconds = note.length > 0 ? seconds : annotatedSeconds;
        bytes += head.length + length;
    }

    private void cutTo(long length, IOException failed) {
        try {
            output.truncate(length);
            torn = false;
        } catch (IOException alsoFailed) {
            failed.addSuppressed(alsoFailed);
        }
    }

    private static ByteBuffer bytes(Block block) {
        return block.memory.asSlice(0, block.used).asByteBuffer();
    }

    /** Whether something was written that a loss of power would lose. */
    boolean isUnforced() {
        return forcedBytes < bytes;
    }

    void force() throws IOException {
        output.force();
        forcedBytes = bytes;
    }

    /** The length of the file. */
    long bytes() {
        return bytes;
    }

    @Override
    public void close() throws IOException {
        output.close();
    }
}
