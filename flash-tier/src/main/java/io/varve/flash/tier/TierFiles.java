package io.varve.flash.tier;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

import io.varve.flash.store.FlashStore;
import io.varve.flash.store.Handover;
import io.varve.flash.store.StoreException;
import io.varve.memory.Epochs;

/**
 * What the tier has in its directory: the store, and a small file that says whose items are in it: the seed of the keys' hashes,
 * and the epochs of the databases. Guarded by itself.
 *
 * <pre>
 *   state           one line each: format, seed, epochs, next, clean, sync, boot, checksum
 *   items/          the store's files
 *   items.damaged/  those that could not be read when they were opened last: nobody needs them
 * </pre>
 *
 * <p>What the store holds counts after a clean end, and after the process was killed: then the system had what was handed over.
 * After the system itself went down without writing all of it, old values may be there again, so everything is of an epoch that
 * has ended, unless what was invalidated has always been on the device first ({@code sync}, in that life and not only in this one).
 *
 * <p>A clean end is noted in the store as the last that is written there. Where that note is missing, so may be what was invalidated before
 * it; and nothing is believed of a store that cannot be read. Either way it starts empty.
 */
public final class TierFiles implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(TierFiles.class.getName());
    private static final String STATE = "state";
    private static final String ITEMS = "items";
    private static final String DAMAGED = "items.damaged";
    /** The name of the note behind all that was written. */
    private static final String END = "end";
    private static final String FORMAT = "1";
    private static final int FIELDS = 7;
    /** Which start of the system this is, where it tells. */
    private static final Path BOOT = Path.of("/proc/sys/kernel/random/boot_id");
    /** As many epochs may be used before the file says so. */
    private static final long EPOCHS_AHEAD = 1L << 20;
    private static final int MILLIS_SHIFT = 20;

    private final Path directory;
    private final FlashStore store;
    private final String boot;
    private final long seed;
    private final Epochs resumed;
    /** Whether all that was ever acknowledged and counts is on the device. */
    private final boolean synced;

    /** What the file says. Immutable. */
    private record State(long seed, Epochs epochs, boolean clean, boolean sync, String boot) {}

    /** A store that was opened, whether it has the note of a clean end, and whether it is another than before. Immutable. */
    private record Opened(FlashStore store, boolean ended, boolean fresh) {}

    private TierFiles(Path directory, Opened opened, int databases, boolean sync, String boot, long wallMillis) {
        this.directory = directory;
        store = opened.store();
        this.boot = boot;
        Optional<State> read = read();
        seed = read.map(State::seed).orElseGet(() -> new SecureRandom().nextLong());
        boolean written = read.isPresent()
                && (read.get().clean() || read.get().sync() || !boot.isEmpty() && boot.equals(read.get().boot()));
        boolean whole = opened.ended() || read.isEmpty() || !read.get().clean();
        boolean counts = written && whole && !opened.fresh();
        if (store.count() > 0 && !counts) {
            LOG.log(System.Logger.Level.WARNING, "{0}: {1}; the flash tier starts empty", directory,
                    whole
                            ? "the system went down before all was written"
                            : "what was written last is not there any more");
        }
        resumed = epochs(read.map(State::epochs), counts, databases, wallMillis);
        // What another life left with the system alone does not get to the device by being asked for now.
        synced = sync && (!counts || read.get().clean() || read.get().sync());
        save(resumed, false);
        if (opened.ended()) {
            forgetEnd();
        }
    }

    /** From now on more may be written. The state says so already, so the note is of no account if it stays. */
    private void forgetEnd() {
        try {
            store.note(END, false);
        } catch (StoreException refused) {
            LOG.log(System.Logger.Level.WARNING, "The note of the last end stays where it is", refused);
        }
    }

    /**
     * Opens the directory, which is made if it is not there.
     *
     * @param opener     opens the store in a directory
     * @param databases  how many there are
     * @param sync       whether everything that was acknowledged is on the device
     * @param wallMillis now, ms since the epoch
     * @throws StoreException       if somebody else has it open, or there is no room
     * @throws UncheckedIOException if the directory cannot be made or the file not be written
     */
    public static TierFiles open(Path directory, Function<Path, FlashStore> opener, int databases, boolean sync,
            long wallMillis) {
        return open(directory, opener, databases, sync, wallMillis, boot());
    }

    static TierFiles open(Path directory, Function<Path, FlashStore> opener, int databases, boolean sync,
            long wallMillis, String boot) {
        try {
            Files.createDirectories(directory);
        } catch (IOException refused) {
            throw new UncheckedIOException("The directory " + directory + " cannot be made", refused);
        }
        Opened opened = openOrSetAside(directory, opener);
        try {
            return new TierFiles(directory, opened, databases, sync, boot, wallMillis);
        } catch (RuntimeException failed) {
            opened.store().close();
            throw failed;
        }
    }

    /** A store whose files are damaged can be done without; a server that does not start because of them cannot. */
    private static Opened openOrSetAside(Path directory, Function<Path, FlashStore> opener) {
        Path items = directory.resolve(ITEMS);
        try {
            return open(items, opener, false);
        } catch (StoreException damaged) {
            if (damaged.kind() != StoreException.Kind.BROKEN) {
                throw damaged;
            }
            Path aside = directory.resolve(DAMAGED);
            LOG.log(System.Logger.Level.ERROR,
                    items + " cannot be read: it becomes " + aside
                            + ", which may be deleted, and the flash tier starts empty",
                    damaged);
            setAside(items, aside);
            return open(items, opener, true);
        }
    }

    private static Opened open(Path items, Function<Path, FlashStore> opener, boolean fresh) {
        FlashStore store = opener.apply(items);
        try {
            return new Opened(store, store.noted(END), fresh);
        } catch (StoreException failed) {
            closeBroken(store);
            throw failed;
        }
    }

    private static void closeBroken(FlashStore store) {
        try {
            store.close();
        } catch (StoreException again) {
            LOG.log(System.Logger.Level.DEBUG, "A store that cannot be read fails to be closed too", again);
        }
    }

    /** What was set aside before goes: it may be as large as the device. */
    private static void setAside(Path items, Path aside) {
        try {
            if (Files.exists(aside)) {
                try (Stream<Path> all = Files.walk(aside)) {
                    for (Path file : all.sorted(Comparator.reverseOrder()).toList()) {
                        Files.delete(file);
                    }
                }
            }
            Files.move(items, aside, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException failed) {
            throw new UncheckedIOException(items + " cannot be set aside as " + aside, failed);
        }
    }

    private static String boot() {
        try {
            return Files.readString(BOOT).strip();
        } catch (IOException untold) {
            LOG.log(System.Logger.Level.DEBUG, "The system does not tell which start this is", untold);
            return "";
        }
    }

    /** Those that were, and new ones for databases that were not; all new if what was there does not count. */
    private static Epochs epochs(Optional<Epochs> before, boolean counts, int databases, long wallMillis) {
        long next = Math.max(before.map(Epochs::next).orElse(0L), counts ? 0 : wallMillis << MILLIS_SHIFT);
        List<Long> ofDatabases = new ArrayList<>();
        for (int i = 0; i < databases; i++) {
            if (counts && i < before.orElseThrow().ofDatabases().size()) {
                ofDatabases.add(before.orElseThrow().ofDatabases().get(i));
            } else {
                ofDatabases.add(next++);
            }
        }
        return new Epochs(ofDatabases, next);
    }

    FlashStore store() {
        return store;
    }

    /** Of the keys' hashes: what is on flash is found with this one only. */
    public long hashSeed() {
        return seed;
    }

    /** The epochs to go on with. */
    public Epochs epochs() {
        return resumed;
    }

    /**
     * Says whose items count from now on. It is on the device when this returns.
     *
     * @param clean whether nothing follows
     * @throws UncheckedIOException if it could not be written: what was there before may still be
     */
    synchronized void save(Epochs epochs, boolean clean) {
        List<String> lines = new ArrayList<>(List.of(FORMAT, Long.toString(seed),
                String.join(",", epochs.ofDatabases().stream().map(String::valueOf).toList()),
                Long.toString(epochs.next() + EPOCHS_AHEAD), Boolean.toString(clean), Boolean.toString(synced), boot));
        lines.add(Long.toString(checksum(lines)));
        Path fresh = directory.resolve(STATE + ".new");
        try {
            try (FileChannel file = FileChannel.open(fresh, StandardOpenOption.CREATE, StandardOpenOption.WRITE,
                    StandardOpenOption.TRUNCATE_EXISTING)) {
                ByteBuffer bytes = ByteBuffer.wrap((String.join("\n", lines) + "\n").getBytes(StandardCharsets.UTF_8));
                while (bytes.hasRemaining()) {
                    file.write(bytes);
                }
                file.force(true);
            }
            Files.move(fresh, directory.resolve(STATE), StandardCopyOption.ATOMIC_MOVE,
                    StandardCopyOption.REPLACE_EXISTING);
            forceDirectory();
        } catch (IOException failed) {
            throw new UncheckedIOException("The file " + directory.resolve(STATE) + " could not be written", failed);
        }
    }

    /**
     * Says that nothing follows, once all that was changed is on the device.
     *
     * @param clean whether all that counts was written
     * @throws UncheckedIOException if it could not be written
     * @throws StoreException       if the store failed
     */
    void end(Epochs epochs, boolean clean) {
        store.handOver(Handover.TO_DEVICE);
        if (clean) {
            store.note(END, true);
        }
        save(epochs, clean);
    }

    /** Takes the file away, which needs no room: nothing on flash counts without it. */
    synchronized void forget() {
        try {
            Files.deleteIfExists(directory.resolve(STATE));
            forceDirectory();
        } catch (IOException failed) {
            throw new UncheckedIOException("The file " + directory.resolve(STATE) + " could not be taken away", failed);
        }
    }

    private void forceDirectory() throws IOException {
        try (FileChannel folder = FileChannel.open(directory, StandardOpenOption.READ)) {
            folder.force(true);
        }
    }

    private Optional<State> read() {
        Path file = directory.resolve(STATE);
        if (!Files.exists(file)) {
            return Optional.empty();
        }
        try {
            List<String> lines = Files.readAllLines(file, StandardCharsets.UTF_8);
            if (lines.size() != FIELDS + 1 || !lines.getFirst().equals(FORMAT)
                    || Long.parseLong(lines.get(FIELDS)) != checksum(lines.subList(0, FIELDS))) {
                LOG.log(System.Logger.Level.WARNING, "{0} is not as it was written; the flash tier starts empty", file);
                return Optional.empty();
            }
            List<Long> epochs = Arrays.stream(lines.get(2).split(",", -1)).map(Long::parseLong).toList();
            return Optional.of(new State(Long.parseLong(lines.get(1)), new Epochs(epochs, Long.parseLong(lines.get(3))),
                    Boolean.parseBoolean(lines.get(4)), Boolean.parseBoolean(lines.get(5)), lines.get(6)));
        } catch (IOException | IllegalArgumentException failed) {
            LOG.log(System.Logger.Level.WARNING, "{0} cannot be read; the flash tier starts empty: {1}", file,
                    Objects.toString(failed.getMessage()));
            return Optional.empty();
        }
    }

    private static long checksum(List<String> lines) {
        CRC32C crc = new CRC32C();
        crc.update(String.join("\n", lines).getBytes(StandardCharsets.UTF_8));
        return crc.getValue();
    }

    /** Bytes that the store's files take. */
    long fileBytes() {
        try (Stream<Path> all = Files.list(directory.resolve(ITEMS))) {
            return all.mapToLong(file -> file.toFile().length()).sum();
        } catch (IOException untold) {
            LOG.log(System.Logger.Level.DEBUG, "The files cannot be listed", untold);
            return 0;
        }
    }

    /** Bytes that are free on the device; as many as can be where the system does not tell. */
    long freeBytes() {
        try {
            return Files.getFileStore(directory).getUsableSpace();
        } catch (IOException untold) {
            LOG.log(System.Logger.Level.DEBUG, "The system does not tell how much room is left", untold);
            return Long.MAX_VALUE;
        }
    }

    /** Closes the store. */
    @Override
    public void close() {
        store.close();
    }
}
