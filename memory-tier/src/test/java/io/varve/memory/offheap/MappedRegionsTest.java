package io.varve.memory.offheap;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

import static org.assertj.core.api.Assertions.assertThat;

/** Tests regions from mmap. */
@EnabledOnOs(OS.LINUX)
class MappedRegionsTest extends RegionsContractTest {
    private static final long BYTES = 128L << 20;

    @Override
    Regions create() {
        return new Regions(true);
    }

    /** The reason for mmap: what is reserved is not resident, what is written is, what is freed is no more. */
    @Test
    void residentMemoryFollowsWrites() throws IOException {
        Regions regions = create();
        long before = residentBytes();
        long address = regions.allocate(BYTES);
        assertThat(residentBytes() - before).as("reserved only").isLessThan(BYTES / 2);
        for (long offset = 0; offset < BYTES; offset += Regions.MIN_BYTES) {
            Memory.putByte(address + offset, (byte) 1);
        }
        long written = residentBytes();
        assertThat(written - before).isGreaterThan(BYTES / 2);
        regions.free(address, BYTES);
        assertThat(written - residentBytes()).as("given back").isGreaterThan(BYTES / 2);
    }

    /** Its pages are still resident: what waits beyond a little stays charged until they are not. */
    @Test
    void retiredMemoryBeyondALittleStaysCharged() {
        Regions regions = create();
        long bytes = Regions.MAX_RETIRED_BYTES;
        MemoryBudget budget = new MemoryBudget(4 * bytes);
        budget.charge(3 * bytes);
        long first = regions.allocate(bytes);
        long second = regions.allocate(bytes);
        regions.retire(first, bytes, budget, bytes);
        regions.retire(second, bytes, budget, bytes);
        assertThat(budget.chargedBytes()).isEqualTo(2 * bytes);
        long third = regions.allocate(bytes);
        assertThat(third).isNotIn(first, second);
        assertThat(regions.discardRetired()).isEqualTo(bytes);
        assertThat(budget.chargedBytes()).isEqualTo(bytes);
        assertThat(regions.discardRetired()).isZero();
        regions.retire(third, bytes, budget, bytes);
        assertThat(budget.chargedBytes()).as("there is memory for a little again").isZero();
        regions.discardRetired();
    }

    private static long residentBytes() throws IOException {
        List<String> lines = Files.readAllLines(Path.of("/proc/self/status"));
        for (String line : lines) {
            if (line.startsWith("VmRSS:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) * 1024;
            }
        }
        throw new IOException("no VmRSS in /proc/self/status");
    }
}
