package io.varve.server.clustering;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

import io.varve.cluster.map.HashSlot;
import io.varve.cluster.map.Member;
import io.varve.cluster.map.SlotMap;
import io.varve.cluster.map.SlotRange;
import io.varve.server.config.FileReplacement;
import org.jspecify.annotations.Nullable;

/**
 * The file {@code nodes.conf}, in Redis's format: the lines of CLUSTER NODES and one line of variables. Guarded by its
 * {@link ClusterState}.
 *
 * <p>The line of variables also has the version of what is in the file. Each write replaces the file as a whole. A lock
 * on a second file keeps other processes off, which would have the same ID.
 */
public final class NodesFile implements AutoCloseable {
    private static final int VERSION = 1;
    private static final String VERSION_NAME = "varveVersion";
    private static final int ID_BYTES = 20;
    private static final int FIRST_PORT = 6379;
    /** Fields of a line before its slots. */
    private static final int FIELDS = 8;

    private final Path file;
    private @Nullable FileChannel lock;

    public NodesFile(Path file) {
        this.file = file.toAbsolutePath();
    }

    /** Draws an ID. */
    public static String newId() {
        byte[] bytes = new byte[ID_BYTES];
        new SecureRandom().nextBytes(bytes);
        return HexFormat.of().formatHex(bytes);
    }

    /**
     * Locks and reads the file, or creates it with a new ID.
     *
     * @throws IOException if another process uses it, or it cannot be read or written
     */
    ClusterView open(ClusterOptions options, boolean leased) throws IOException {
        FileChannel channel = FileChannel.open(file.resolveSibling(file.getFileName() + ".lock"),
                StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            if (!isLocked(channel)) {
                throw new IOException("another server uses " + file
                        + ": each member of a cluster needs a cluster-config-file of its own");
            }
            ClusterView view = Files.exists(file)
                    ? new Reader(options, leased).read(Files.readAllLines(file, StandardCharsets.UTF_8))
                    : ClusterView.of(new Member(newId(), NodesText.hostOf(""), FIRST_PORT, 1, null), SlotMap.EMPTY,
                            leased, options);
            write(view);
            lock = channel;
            return view;
        } finally {
            if (lock == null) {
                channel.close();
            }
        }
    }

    private static boolean isLocked(FileChannel channel) throws IOException {
        try {
            FileLock taken = channel.tryLock();
            return taken != null;
        } catch (OverlappingFileLockException ofThisProcess) {
            return false;
        }
    }

    /** @throws IOException if it cannot be written: the file is then unchanged */
    void write(ClusterView view) throws IOException {
        String text = NodesText.of(view) + "vars currentEpoch " + view.map().epoch() + " lastVoteEpoch 0 "
                + VERSION_NAME + ' ' + VERSION + '\n';
        FileReplacement.replace(file, text.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void close() throws IOException {
        if (lock != null) {
            lock.close();
        }
    }

    @Override
    public String toString() {
        return file.toString();
    }

    /** Reads the lines of a file. Confined to one thread. */
    private final class Reader {
        private final ClusterOptions options;
        private final boolean leased;
        private final SlotMap.Builder map = new SlotMap.Builder();
        private final Map<Integer, String> migrating = new HashMap<>();
        private final Map<Integer, String> importing = new HashMap<>();
        private long epoch;
        private @Nullable Member me;

        Reader(ClusterOptions options, boolean leased) {
            this.options = options;
            this.leased = leased;
        }

        ClusterView read(List<String> lines) throws IOException {
            try {
                for (String line : lines) {
                    String[] words = line.split(" ", -1);
                    if (words[0].equals("vars")) {
                        readVariables(words);
                    } else if (!line.isEmpty()) {
                        readMember(words);
                    }
                }
                for (String line : lines) {
                    if (!line.startsWith("vars ") && !line.isEmpty()) {
                        readSlots(line.split(" ", -1));
                    }
                }
                Member self = me;
                if (self == null) {
                    throw new IllegalArgumentException("no line has the flag myself");
                }
                SlotMap read = map.build(epoch);
                return new ClusterView(self, read, members(migrating, read), members(importing, read), leased,
                        options);
            } catch (IllegalArgumentException | IllegalStateException | ArrayIndexOutOfBoundsException wrong) {
                throw new IOException(file + " is not a file of cluster members: " + wrong.getMessage(), wrong);
            }
        }

        private void readVariables(String[] words) {
            for (int i = 1; i + 1 < words.length; i += 2) {
                if (words[i].equals("currentEpoch")) {
                    epoch = Long.parseLong(words[i + 1]);
                } else if (words[i].equals(VERSION_NAME) && Integer.parseInt(words[i + 1]) > VERSION) {
                    throw new IllegalArgumentException("its version is " + words[i + 1]
                            + "; this server reads up to version " + VERSION);
                }
            }
        }

        private void readMember(String[] words) {
            String address = words[1];
            int end = address.indexOf('@') < 0 ? address.length() : address.indexOf('@');
            int colon = address.lastIndexOf(':', end);
            List<String> flags = List.of(words[2].split(","));
            Member member = new Member(words[0], NodesText.hostOf(address.substring(0, colon)),
                    Integer.parseInt(address.substring(colon + 1, end)), 1,
                    words[3].equals("-") ? null : words[3]);
            map.member(member);
            if (flags.contains("myself")) {
                me = member;
            }
        }

        private void readSlots(String[] words) {
            for (int i = FIELDS; i < words.length; i++) {
                String slots = words[i];
                if (slots.startsWith("[")) {
                    int arrow = slots.indexOf('-');
                    (slots.startsWith("->-", arrow) ? migrating : importing).put(
                            Integer.parseInt(slots.substring(1, arrow)),
                            slots.substring(arrow + "->-".length(), slots.length() - 1));
                } else {
                    int dash = slots.indexOf('-');
                    int first = Integer.parseInt(dash < 0 ? slots : slots.substring(0, dash));
                    int last = dash < 0 ? first : Integer.parseInt(slots.substring(dash + 1));
                    map.owner(new SlotRange(first, last), words[0]);
                }
            }
        }

        private static Map<Integer, Member> members(Map<Integer, String> ids, SlotMap map) {
            Map<Integer, Member> members = new HashMap<>();
            ids.forEach((slot, id) -> {
                Member member = map.member(id);
                if (member == null || slot >= HashSlot.COUNT) {
                    throw new IllegalArgumentException("slot " + slot + " moves from or to the unknown member " + id);
                }
                members.put(slot, member);
            });
            return members;
        }
    }
}
