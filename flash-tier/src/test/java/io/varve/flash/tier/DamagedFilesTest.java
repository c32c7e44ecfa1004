package io.varve.flash.tier;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import io.varve.flash.je.JeSettings;
import io.varve.flash.je.JeStore;
import io.varve.flash.store.CrashingStore;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests a tier whose files a device has corrupted between two runs. Confined to the test's thread. */
class DamagedFilesTest {
    private static final FlashTierSettings AMPLE = FlashTierSettings.of(100_000).withQueueBytes(1L << 28)
            .withMinFreeBytes(0);
    /** A part of a value that is to be damaged. */
    private static final String MARK = "the mark of a value";

    @TempDir
    Path directory;

    private TierFixture open() {
        return new TierFixture(directory, at -> JeStore.open(at, JeSettings.of(16L << 20)), AMPLE);
    }

    private List<Path> logs() throws IOException {
        try (Stream<Path> files = Files.list(directory.resolve("items"))) {
            return files.filter(file -> file.toString().endsWith(".jdb")).sorted().toList();
        }
    }

    /** Changes a byte of the marked value wherever it is. @return in how many of the files */
    private int damage() throws IOException {
        int damaged = 0;
        for (Path file : logs()) {
            byte[] bytes = Files.readAllBytes(file);
            String text = new String(bytes, StandardCharsets.ISO_8859_1);
            boolean found = false;
            for (int at = text.indexOf(MARK); at >= 0; at = text.indexOf(MARK, at + 1)) {
                bytes[at + MARK.length() + 20] ^= 0x40;
                found = true;
            }
            if (found) {
                Files.write(file, bytes);
                damaged++;
            }
        }
        return damaged;
    }

    private static void assertWorks(TierFixture fixture) {
        fixture.set(0, "fresh", "value");
        fixture.set(0, "stays", "value");
        fixture.demoteOthers(1, "pushes ");
        fixture.settle();
        assertThat(fixture.tier.stats().written()).isPositive();
        assertThat(fixture.tier.stats().failing()).isFalse();
        assertThat(fixture.get(0, "fresh")).isEqualTo("value");
    }

    /** A log that is read up to the damage and no further still contains the key. */
    @Test
    void deletionsBehindDamageStayDeleted() throws IOException {
        try (TierFixture fixture = open()) {
            fixture.set(0, "key", "old");
            fixture.demoteOthers(1, "one ");
            fixture.settle();
            fixture.set(0, "damaged", MARK + "y".repeat(100));
            fixture.demoteOthers(1, "two ");
            fixture.settle();
            // No more than that: a log of 10 MB continues in a second file, and the amount to write differs.
            assertThat(fixture.delete(0, "key")).isTrue();
            fixture.settle();
        }
        assertThat(logs()).hasSize(1);
        assertThat(damage()).isOne();
        try (TierFixture fixture = open()) {
            assertThat(fixture.get(0, "key")).isNull();
            assertThat(fixture.get(0, "damaged")).isNull();
            assertWorks(fixture);
        }
        assertThat(directory.resolve("items.damaged")).isDirectory();
        try (TierFixture fixture = open()) {
            assertThat(fixture.get(0, "stays")).isEqualTo("value");
        }
    }

    /** Nothing is damaged, but the end is missing: after a clean end there is nothing that could be. */
    @Test
    void deletionsBeforeUncleanEndStayDeleted() throws IOException {
        long bytes;
        try (TierFixture fixture = open()) {
            fixture.set(0, "key", "old");
            fixture.demoteOthers(1, "one ");
            fixture.settle();
            bytes = Files.size(logs().getLast());
            assertThat(fixture.delete(0, "key")).isTrue();
        }
        assertThat(logs()).hasSize(1);
        Path last = logs().getLast();
        assertThat(Files.size(last)).isGreaterThan(bytes);
        try (var file = java.nio.channels.FileChannel.open(last, java.nio.file.StandardOpenOption.WRITE)) {
            assertThat(file.truncate(bytes).size()).isEqualTo(bytes);
        }
        try (TierFixture fixture = open()) {
            assertThat(fixture.get(0, "key")).isNull();
            assertWorks(fixture);
        }
    }

    /** The library finds the damage when it reads there, and from then on does not open its files. */
    @Test
    void damageInEarlierFileDoesNotPreventRestart() throws IOException {
        try (TierFixture fixture = open()) {
            fixture.set(0, "damaged", MARK + "y".repeat(100));
            for (int i = 0; logs().size() < 3; i++) {
                fixture.demoteOthers(1 + i % 2, "one " + i + " ");
                fixture.settle();
            }
        }
        assertThat(damage()).isOne();
        try (TierFixture fixture = open()) {
            assertThat(fixture.get(0, "damaged")).isNull();
            fixture.set(0, "damaged", "new");
            assertThat(fixture.get(0, "damaged")).isEqualTo("new");
        }
        for (int life = 0; life < 2; life++) {
            try (TierFixture fixture = open()) {
                assertThat(fixture.get(0, "damaged")).isNotEqualTo(MARK + "y".repeat(100));
                assertWorks(fixture);
            }
        }
    }

    /** One set of damaged files is kept, whatever happens: they may be as large as the device. */
    @Test
    void lastRenamedDirectoryIsKept() throws IOException {
        for (int life = 0; life < 2; life++) {
            try (TierFixture fixture = open()) {
                fixture.set(0, "life " + life, "value");
                fixture.demoteOthers(1, "one ");
                fixture.settle();
            }
            Path last = logs().getLast();
            Files.write(last, new byte[(int) Files.size(last)]);
            try (TierFixture fixture = open()) {
                assertThat(fixture.get(0, "life " + life)).isNull();
                assertWorks(fixture);
            }
        }
        try (Stream<Path> all = Files.list(directory)) {
            assertThat(all.map(file -> file.getFileName().toString()).filter(name -> !name.equals("state")))
                    .contains("items").hasSizeLessThanOrEqualTo(2);
        }
    }

    /** A missing note of a clean end empties the tier with any store. */
    @Test
    void anEndThatIsNotNotedAnyMoreIsMissing() {
        CrashingStore device = new CrashingStore();
        for (boolean missing : new boolean[] {false, true}) {
            try (TierFixture fixture = new TierFixture(directory, _ -> device, AMPLE)) {
                fixture.set(0, "key", "value");
                fixture.demoteOthers(1, "one ");
            }
            if (missing) {
                device.setNote("end", false);
            }
            try (TierFixture fixture = new TierFixture(directory, _ -> device, AMPLE)) {
                assertThat(fixture.get(0, "key")).isEqualTo(missing ? null : "value");
            }
        }
    }
}
