package io.varve.ycsb;

import java.io.IOException;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;

import io.varve.flash.policy.Policies;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/** How properties are read and refused. Confined to the test's thread. */
class FlashTierOptionsTest {
    private static Properties properties(String... more) {
        Properties properties = new Properties();
        properties.setProperty(FlashTierOptions.FLASH_DIR, "a");
        properties.setProperty(FlashTierOptions.DISK_DIR, "b");
        for (int i = 0; i < more.length; i += 2) {
            properties.setProperty(more[i], more[i + 1]);
        }
        return properties;
    }

    @Test
    void defaultsAreThePapers() {
        FlashTierOptions options = FlashTierOptions.parse(properties("recordcount", "5"));
        assertThat(options.policy()).isEqualTo(Policies.TBF);
        assertThat(options.settings().items()).isEqualTo(100_000);
        assertThat(options.settings().writeBack()).isFalse();
        assertThat(options.settings().sync()).isFalse();
        assertThat(options.store()).isEqualTo(FlashTierOptions.Library.JE);
        assertThat(options.flashDirectory()).isAbsolute().hasFileName("a");
    }

    @Test
    void everythingCanBeSet() {
        FlashTierOptions options = FlashTierOptions.parse(properties("varve.flash.policy", "s3-fifo",
                "varve.flash.items", "12", "varve.flash.write", "back", "varve.flash.sync", "true",
                "varve.flash.store", "mvstore", "varve.flash.cache-mb", "3", "varve.disk.cache-mb", "4"));
        assertThat(options.policy()).isEqualTo(Policies.S3_FIFO);
        assertThat(options.settings().items()).isEqualTo(12);
        assertThat(options.settings().writeBack()).isTrue();
        assertThat(options.settings().sync()).isTrue();
        assertThat(options.store()).isEqualTo(FlashTierOptions.Library.MVSTORE);
        assertThat(options.flashCacheBytes()).isEqualTo(3 << 20);
        assertThat(options.diskCacheBytes()).isEqualTo(4 << 20);
    }

    @ParameterizedTest
    @CsvSource({"varve.flash.policy,best,tbf", "varve.flash.items,0,from 1", "varve.flash.write,both,through or back",
            "varve.flash.sync,maybe,false or true", "varve.flash.store,files,je or mvstore",
            "varve.flash.polcy,tbf,varve.flash.policy", "varve.disk.dir,a,another directory"})
    void invalidPropertyIsRefusedByName(String name, String value, String says) {
        assertThatThrownBy(() -> FlashTierOptions.parse(properties(name, value)))
                .isInstanceOf(IllegalArgumentException.class).hasMessageContaining(name).hasMessageContaining(says);
    }

    @Test
    void everyPropertyIsDocumented() throws IOException, IllegalAccessException {
        String readme = Files.readString(Path.of("..", "..", "workloads", "README.md"));
        String section = readme.substring(readme.indexOf("## A cache on flash"));
        List<String> names = new ArrayList<>();
        for (Field field : FlashTierOptions.class.getFields()) {
            names.add((String) field.get(null));
        }
        assertThat(names).hasSize(9).allSatisfy(name -> assertThat(section).contains("\n| `" + name + "` | "));
        assertThat(section).contains("JDK 25");
    }

    @Test
    void aDirectoryIsRequired() {
        Properties properties = new Properties();
        properties.setProperty(FlashTierOptions.DISK_DIR, "b");
        assertThatThrownBy(() -> FlashTierOptions.parse(properties)).hasMessageContaining("varve.flash.dir is not set");
    }
}
