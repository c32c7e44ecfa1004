package io.varve.ycsb;

import java.nio.file.Path;
import java.util.List;
import java.util.Properties;

import io.varve.flash.FlashCacheSettings;
import io.varve.flash.policy.Policies;
import io.varve.ycsb.option.PropertyReader;

/**
 * The settings of {@link FlashTierClient}, read from YCSB's properties. Immutable.
 *
 * @param policy          the replacement policy
 * @param settings        the settings of the cache
 * @param flashDirectory  directory of the database on flash
 * @param diskDirectory   directory of the database behind it
 * @param store           the library of both databases
 * @param flashCacheBytes heap for the database on flash
 * @param diskCacheBytes  heap for the database behind it
 */
public record FlashTierOptions(Policies policy, FlashCacheSettings settings, Path flashDirectory, Path diskDirectory,
        Library store, long flashCacheBytes, long diskCacheBytes) {

    /** A policy's name, such as {@code tbf} (default), {@code clock} or {@code s3-fifo}. */
    public static final String POLICY = "varve.flash.policy";
    /** Records that the cache holds; default 100,000. */
    public static final String ITEMS = "varve.flash.items";
    /** The directory of the database on flash; there is no default. */
    public static final String FLASH_DIR = "varve.flash.dir";
    /** The directory of the database behind it; there is no default. */
    public static final String DISK_DIR = "varve.disk.dir";
    /** {@code through} (default) or {@code back}. */
    public static final String WRITE = "varve.flash.write";
    /** Whether an acknowledged write is on the device: {@code false} (default) or {@code true}. */
    public static final String SYNC = "varve.flash.sync";
    /** {@code je} (default) or {@code mvstore}. */
    public static final String STORE = "varve.flash.store";
    /** Megabytes of heap for the tree of the database on flash; default 64. */
    public static final String FLASH_CACHE = "varve.flash.cache-mb";
    /** Megabytes of heap for the tree of the database behind; default 64. */
    public static final String DISK_CACHE = "varve.disk.cache-mb";

    private static final List<String> NAMES = List.of(POLICY, ITEMS, FLASH_DIR, DISK_DIR, WRITE, SYNC, STORE,
            FLASH_CACHE, DISK_CACHE);
    private static final long DEFAULT_ITEMS = 100_000;
    private static final long DEFAULT_CACHE_MB = 64;
    private static final long MAX_CACHE_MB = 1 << 20;
    private static final int MB = 1 << 20;

    /** The library of a database. */
    public enum Library {
        /** Berkeley DB JE. */
        JE,
        /** H2's MVStore. */
        MVSTORE
    }

    /** When a write reaches the database behind. */
    enum Write {
        THROUGH, BACK
    }

    /**
     * Reads the binding's settings.
     *
     * @throws IllegalArgumentException with a line that names the property, its value and the allowed values
     */
    public static FlashTierOptions parse(Properties properties) {
        PropertyReader reader = new PropertyReader(properties, NAMES);
        String policy = reader.text(POLICY, Policies.TBF.optionName());
        FlashCacheSettings settings = FlashCacheSettings
                .of(reader.number(ITEMS, DEFAULT_ITEMS, 1, Integer.MAX_VALUE))
                .withWriteBack(reader.choice(WRITE, Write.THROUGH) == Write.BACK)
                .withSync(reader.flag(SYNC, false));
        Path flash = directory(reader, FLASH_DIR);
        Path disk = directory(reader, DISK_DIR);
        if (flash.equals(disk)) {
            throw PropertyReader.refused(DISK_DIR, disk.toString(), "another directory than " + FLASH_DIR);
        }
        return new FlashTierOptions(policy(policy), settings, flash, disk, reader.choice(STORE, Library.JE),
                MB * reader.number(FLASH_CACHE, DEFAULT_CACHE_MB, 1, MAX_CACHE_MB),
                MB * reader.number(DISK_CACHE, DEFAULT_CACHE_MB, 1, MAX_CACHE_MB));
    }

    private static Policies policy(String name) {
        try {
            return Policies.of(name);
        } catch (IllegalArgumentException unknown) {
            throw new IllegalArgumentException(POLICY + ": " + unknown.getMessage(), unknown);
        }
    }

    private static Path directory(PropertyReader reader, String name) {
        String text = reader.text(name, "");
        if (text.isEmpty()) {
            throw new IllegalArgumentException(name + " is not set: say where its database is to be");
        }
        return Path.of(text).toAbsolutePath().normalize();
    }
}
