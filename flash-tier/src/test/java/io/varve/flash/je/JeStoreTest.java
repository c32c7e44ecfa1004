package io.varve.flash.je;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

import com.sleepycat.je.DbInternal;
import com.sleepycat.je.Environment;
import com.sleepycat.je.EnvironmentConfig;
import com.sleepycat.je.EnvironmentFailureException;
import io.varve.flash.store.DurabilityLevel;
import io.varve.flash.store.FlashStore;
import io.varve.flash.store.StoreContract;
import io.varve.flash.store.StoreException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** The store in a Berkeley DB JE environment. Confined to the test's thread. */
class JeStoreTest extends StoreContract {
    private static final long LOCK_TIMEOUT_MILLIS = 10_000;
    private static final int LIVES = 8;

    @Override
    protected FlashStore open(Path where, Limits limits) {
        return JeStore.open(where, new JeSettings(8 << 20, limits.maxDiskBytes(), limits.freeDiskBytes(),
                LOCK_TIMEOUT_MILLIS, limits.retryMillis()));
    }

    private JeStore opened() {
        return (JeStore) store;
    }

    /** As JE does itself when it cannot continue. */
    @Override
    protected void breakFiles() {
        Environment environment = opened().environment();
        EnvironmentFailureException.unexpectedState(DbInternal.getNonNullEnvImpl(environment), "for the test");
        assertThat(environment.isValid()).isFalse();
    }

    @Override
    protected long reopened() {
        return opened().reopened();
    }

    /** However small the heap is. */
    @Test
    void aFileOfTheLogIsReadAtOnce() {
        EnvironmentConfig config = opened().environment().getConfig();
        assertThat(Long.parseLong(config.getConfigParam(EnvironmentConfig.LOG_FILE_MAX)))
                .isEqualTo(Long.parseLong(config.getConfigParam(EnvironmentConfig.LOG_ITERATOR_READ_SIZE)));
    }

    /**
     * The entry may lie anywhere in the windows through which the log is read: values of 3,500 bytes cross the ends of
     * some of them, those of 20,000 bytes of two.
     */
    @ParameterizedTest
    @ValueSource(ints = {100, 3_500, 7_000, 20_000})
    void open_damageBeforeEnd_isRefused(int valueBytes) throws IOException {
        for (int life = 0; life < LIVES; life++) {
            Path where = directory.resolve(valueBytes + "-" + life);
            byte[] value = "damaged ".repeat(valueBytes / 8).getBytes(StandardCharsets.ISO_8859_1);
            try (FlashStore written = open(where, Limits.NONE)) {
                written.put(bytes("before"), new byte[life * valueBytes], DurabilityLevel.TO_SYSTEM);
                written.put(bytes("damaged"), value, DurabilityLevel.TO_SYSTEM);
                written.put(bytes("behind"), bytes("value"), DurabilityLevel.TO_SYSTEM);
            }
            Path log = where.resolve("00000000.jdb");
            byte[] content = Files.readAllBytes(log);
            int at = new String(content, StandardCharsets.ISO_8859_1).indexOf("damaged damaged");
            content[at + valueBytes / 2] ^= 1;
            Files.write(log, content);
            assertThatThrownBy(() -> open(where, Limits.NONE).close()).isInstanceOfSatisfying(StoreException.class,
                    refused -> assertThat(refused.kind()).isEqualTo(StoreException.Kind.BROKEN));
        }
    }
}
