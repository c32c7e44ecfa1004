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

import io.varve.flash.store.DurabilityLevel;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.StoreException;
import io.varve.memory.report.Epochs;

/**
 * The tier's directory: the store, and a small state file with the seed of the keys' hashes and the epochs of the
 * databases. Guarded by {@code this}.
 *
 * <pre>
 *   state           one line each: format, seed, epochs, next, clean, sync, boot, checksum
 *   items/          the store's files
 *   items.damaged/  files that could not be read at an earlier start; safe to delete
 *   items.old/      files of an earlier run that are being deleted
 * </pre>
 *
 * <p>The store's items are valid after a clean end, and after a kill of the process: the system then had everything
 * that was handed over. If the system itself went down before it wrote all of that, overwritten values may reappear. So
 * everything then belongs to an ended epoch, unless every invalidation was on the device first ({@code sync}, in the
 * earlier run and not only in this one).
 *
 * <p>The last write of a clean end is a note in the store. If the note is missing, earlier invalidations may be missing
 * too, and a store that cannot be read is not trusted at all. In both cases the tier starts empty.
 */
public final class TierFiles implements AutoCloseable {
    private static final System.Logger LOG = System.getLogger(TierFiles.class.getName());
    private static final String STATE = "state";
    private static final String ITEMS = "items";
    private static final String DAMAGED = "items.damaged";
    private static final String OLD = "items.old";
    /** The name of the note after the last write. */
    private static final String END = "end";
    private static final String FORMAT = "1";
    private static final int FIELDS = 7;
    /** Identifies the current boot of the system, where available. */
    private static final Path BOOT = Path.of("/proc/sys/kernel/random/boot_id");
    /** Number of epochs that may be used before the file is saved again. */
    private static final long EPOCHS_AHEAD = 1L << 20;
    private static final int MILLIS_SHIFT = 20;

    private final Path directory;
    private final FlashStore store;
    private final String boot;
    private final long seed;
    private final Epochs resumed;
    /** Whether everything valid that was ever acknowledged is on the device. */
    private final boolean synced;

    /** The content of the state file. Immutable. */
    private record State(long seed, Epochs epochs, boolean clean, boolean sync, String boot) {}

    /** An opened store, whether it has the note of a clean end, and whether it is new. Immutable. */
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
                            ? "the system stopped before all data was written"
                            : "the last written data is missing");
        }
        resumed = epochs(read.map(State::epochs), counts, databases, wallMillis);
        // A sync at this point would not cover changes that an earlier run left with the system only.
        synced = sync && (!counts || read.get().clean() || read.get().sync());
        save(resumed, false);
        if (opened.ended()) {
            forgetEnd();
        }
    }

    /**
     * Deletes the note of the clean end, since more may be written from here on. The state file says so already, so the
     * note is irrelevant if it stays.
     */
    private void forgetEnd() {
        try {
            store.setNote(END, false);
        } catch (StoreException refused) {
            LOG.log(System.Logger.Level.WARNING, "The record of the last clean end stays", refused);
        }
    }

    /**
     * As {@link #open(Path, Function, int, boolean, long)}, without the items of earlier runs, which are deleted.
     */
    public static TierFiles openEmpty(Path directory, Function<Path, FlashStore> opener, int databases, boolean sync,
            long wallMillis) {
        return open(directory, opener, databases, sync, wallMillis, boot(), false);
    }

    /**
     * Opens the directory, which is created if necessary.
     *
     * @param opener opens the store in a directory
     * @param databases number of databases
     * @param sync whether everything acknowledged is on the device
     * @param wallMillis current time, ms since the epoch
     * @throws StoreException if another process has it open, or there is no space
     * @throws UncheckedIOException if the directory or the file cannot be written
     */
    public static TierFiles open(Path directory, Function<Path, FlashStore> opener, int databases, boolean sync,
            long wallMillis) {
        return open(directory, opener, databases, sync, wallMillis, boot());
    }

    static TierFiles open(Path directory, Function<Path, FlashStore> opener, int databases, boolean sync,
            long wallMillis, String boot) {
        return open(directory, opener, databases, sync, wallMillis, boot, true);
    }

    private static TierFiles open(Path directory, Function<Path, FlashStore> opener, int databases, boolean sync,
            long wallMillis, String boot, boolean keepsItems) {
        try {
            Files.createDirectories(directory);
        } catch (IOException refused) {
            throw new UncheckedIOException("The directory " + directory + " cannot be created", refused);
        }
        Opened opened = openOrSetAside(directory, opener);
        if (!keepsItems && opened.store().count() > 0) {
            opened = replace(directory, opened, opener);
        }
        try {
            deleteOld(directory);
            return new TierFiles(directory, opened, databases, sync, boot, wallMillis);
        } catch (RuntimeException failed) {
            opened.store().close();
            throw failed;
        }
    }

    /** Sets a damaged store aside: the server can run without it, and must start. */
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
                    items + " cannot be read: it is renamed to " + aside
                            + ", which may be deleted, and the flash tier starts empty",
                    damaged);
            setAside(items, aside);
            return open(items, opener, true);
        }
    }

    /** Replaces the store by an empty one. The old one is open until it is renamed, so no other process opens it. */
    private static Opened replace(Path directory, Opened opened, Function<Path, FlashStore> opener) {
        Path items = directory.resolve(ITEMS);
        Path old = directory.resolve(OLD);
        LOG.log(System.Logger.Level.INFO, "{0}: its {1} items are deleted, because the data is loaded from a file",
                items, opened.store().count());
        try {
            setAside(items, old);
        } finally {
            closeBroken(opened.store());
        }
        return open(items, opener, true);
    }

    /** Deletes files that an earlier run has set aside. They may be as large as the device. */
    private static void deleteOld(Path directory) {
        Path old = directory.resolve(OLD);
        try {
            delete(old);
        } catch (IOException failed) {
            throw new UncheckedIOException(old + " cannot be deleted", failed);
        }
    }

    private static Opened open(Path items, Function<Path, FlashStore> opener, boolean fresh) {
        FlashStore store = opener.apply(items);
        try {
            return new Opened(store, store.hasNote(END), fresh);
        } catch (StoreException failed) {
            closeBroken(store);
            throw failed;
        }
    }

    private static void closeBroken(FlashStore store) {
        try {
            store.close();
        } catch (StoreException again) {
            LOG.log(System.Logger.Level.DEBUG, "An unreadable store could not be closed", again);
        }
    }

    /** Deletes the store that was set aside earlier, which may be as large as the device. */
    private static void setAside(Path items, Path aside) {
        try {
            delete(aside);
            Files.move(items, aside, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException failed) {
            throw new UncheckedIOException(items + " cannot be renamed to " + aside, failed);
        }
    }

    private static void delete(Path folder) throws IOException {
        if (Files.exists(folder)) {
            try (Stream<Path> all = Files.walk(folder)) {
                for (Path file : all.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }

    private static String boot() {
        try {
            return Files.readString(BOOT).strip();
        } catch (IOException failed) {
            LOG.log(System.Logger.Level.DEBUG, "The system does not report its boot", failed);
            return "";
        }
    }

    /** The earlier epochs, with new ones for additional databases; all new if the earlier items are invalid. */
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

    /** The seed of the keys' hashes: keys on flash can be found only with this one. */
    public long hashSeed() {
        return seed;
    }

    /** The epochs to continue with. */
    public Epochs epochs() {
        return resumed;
    }

    /**
     * Saves the valid epochs. They are on the device when this returns.
     *
     * @param clean whether no further write follows
     * @throws UncheckedIOException if it could not be written: the earlier state may still be there
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
     * Marks the end, once all changes are on the device.
     *
     * @param clean whether all valid items were written
     * @throws UncheckedIOException if it could not be written
     * @throws StoreException if the store failed
     */
    void end(Epochs epochs, boolean clean) {
        store.makeDurable(DurabilityLevel.TO_DEVICE);
        if (clean) {
            store.setNote(END, true);
        }
        save(epochs, clean);
    }

    /** Deletes the state file, which needs no space: without it no item on flash is valid. */
    synchronized void forget() {
        try {
            Files.deleteIfExists(directory.resolve(STATE));
            forceDirectory();
        } catch (IOException failed) {
            throw new UncheckedIOException("The file " + directory.resolve(STATE) + " could not be deleted", failed);
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
                LOG.log(System.Logger.Level.WARNING, "{0} is damaged; the flash tier starts empty", file);
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

    /** Size of the store's files in bytes. */
    long fileBytes() {
        try (Stream<Path> all = Files.list(directory.resolve(ITEMS))) {
            return all.mapToLong(file -> file.toFile().length()).sum();
        } catch (IOException failed) {
            LOG.log(System.Logger.Level.DEBUG, "The files cannot be listed", failed);
            return 0;
        }
    }

    /** Free bytes on the device; the largest number if the system does not report it. */
    long freeBytes() {
        try {
            return Files.getFileStore(directory).getUsableSpace();
        } catch (IOException failed) {
            LOG.log(System.Logger.Level.DEBUG, "The system does not report the free space", failed);
            return Long.MAX_VALUE;
        }
    }

    /** Closes the store. */
    @Override
    public void close() {
        store.close();
    }
}
