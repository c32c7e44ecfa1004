package io.varve.proxy;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

/** Tests that no import cycle exists between packages. Confined to the test's thread. */
class ArchitectureTest {
    private static final JavaClasses CLASSES = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests()).importPackages("io.varve.proxy");

    @Test
    void packages_haveNoImportCycle() {
        slices().matching("io.varve.proxy.(**)").should().beFreeOfCycles().check(CLASSES);
    }
}
