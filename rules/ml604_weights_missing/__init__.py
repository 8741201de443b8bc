"""ML604: weights that a published model needs, and no file holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modellint import claims, folders
from modellint.finding import Confidence, Finding, Severity
from modellint.rule import Rule, folder_probe

if TYPE_CHECKING:
    from collections.abc import Iterator

    from modellint.claims import Claim
    from modellint.finding import Place
    from modellint.folders import Index, ModelFolder
    from modellint.rule import Project

#: The key of an index that maps tensors to files.
_MAP = "weight_map"
#: The most names that a finding lists.
_MOST_NAMES = 4
_FETCH = "run `git lfs pull`"


class WeightsMissing(Rule):
    """Weights of a published model are missing or cut short

    ## What it does
    Reads the headers of all weights in the folder of a published model, and reports

    - a shard that the index names, and that is not there; an info if no weights are there at all
    - a tensor that the index names, and that no shard holds
    - a tensor that two shards hold, as a warning
    - a shard that lies elsewhere than the index says, as an info
    - shards that no index names, although the library loads shards by their index, or that have gaps in their numbers
    - a file that no library reads: one that is cut short, has an invalid header, offsets that overlap or leave gaps, or
      an archive without the storage of a tensor
    - a component that `model_index.json` or `modules.json` names, and that has no folder or no weights
    - a pointer of Git LFS in place of a file, and a link that leads out of the folder, as an info

    Weights count whether git ignores them or not. A wrong `total_size` in the index is harmless, and is not reported.

    ## Why is this bad
    Loading fails where a shard is missing or cut short. Where only a tensor is missing, transformers initialises it at
    random, and says so in a report that nobody reads in a long log.

    ## How to fix
    Save the model again with `save_pretrained`, which writes shards and index together, or copy the missing file.

    ## Confirming
    The library that wrote a file reads its header: safetensors or torch. A component without a folder, and shards
    without an index, are confirmed by the error that `from_pretrained` of the class raises. Modules of
    sentence-transformers, links and files that are too large are not run.

    ## References
    - [safetensors, format](https://github.com/huggingface/safetensors#format)
    - [transformers, sharded checkpoints](https://huggingface.co/docs/transformers/big_models)
    """

    code = "ML604"
    name = "weights-missing"
    severity = Severity.ERROR
    probe = staticmethod(folder_probe)

    def check_folder(self, folder: ModelFolder, project: Project) -> Iterator[Finding]:
        named = set(folder.weight_names)
        for name in folder.index_names:
            index = folder.index(name)
            if index is not None:
                named.update(file for file in index.files if folder.is_there(file))
                yield from self._in_index(folder, index)
        yield from self._in_files(folder, sorted(named))
        from .components import missing_components
        from .sequences import gaps

        for gap in gaps(folder):
            place = folder.place(gap.first)
            yield self.finding(
                place,
                gap.message,
                symbol=gap.whole,
                confidence=Confidence.HIGH,
                severity=None if gap.is_sure else Severity.INFO,
                evidence=gap.evidence,
                help=gap.help,
                claim=_claim_of_class(folder, place),
            )
        for component in missing_components(folder):
            yield self.finding(
                component.place,
                component.message,
                symbol=component.name,
                severity=None if component.is_sure else Severity.INFO,
                confidence=Confidence.HIGH,
                evidence=component.evidence,
                help="copy the component, or take it out of the file",
                claim=claims.NoWeightsFound(component.place, component.library, component.cls, component.name)
                if component.library
                else None,
            )

    def _in_index(self, folder: ModelFolder, index: Index) -> Iterator[Finding]:
        """Shards and tensors that an index names, and that are not there or elsewhere."""
        outside = [file for file in index.files if folder.is_outside(file) and not folder.is_there(file)]
        if outside:
            one = outside[0]
            yield self.finding(
                index.document.place(_MAP, index.tensors_in(one)[0]),
                f"the index names {_name_list(outside)}, outside of the folder",
                symbol=one,
                severity=Severity.WARNING,
                confidence=Confidence.HIGH,
                help="copy the shards into the folder: nothing was checked in them",
            )
        missing = [file for file in index.files if not folder.is_there(file) and file not in outside]
        is_nothing_there = len(missing) == len(index.files) and not folder.weight_names
        for file in missing[:1] if is_nothing_there else missing:
            tensors = index.tensors_in(file)
            count = f"none of the {len(missing)} shards is here" if len(missing) > 1 else "the only shard is not here"
            yield self.finding(
                index.document.place(_MAP, tensors[0]),
                f"the index names `{file}`, which is not here" if not is_nothing_there else f"{count}: `{file}`",
                symbol=file,
                severity=Severity.INFO if is_nothing_there else None,
                confidence=Confidence.HIGH,
                evidence=(f"it should hold {_name_list(tensors)}",),
                help="copy the shard into the folder, or save the model again",
                claim=claims.FileRefused(index.document.place(_MAP, tensors[0]), file),
            )
        if missing or any(folder.weights(file).trouble is not None for file in index.files):
            return
        holders: dict[str, list[str]] = {}
        for file in index.files:
            for tensor in folder.weights(file).tensors:
                holders.setdefault(tensor, []).append(file)
        lost = [name for name in index.shards if name not in holders]
        if lost:
            yield self.finding(
                index.document.place(_MAP, lost[0]),
                f"no shard holds {_name_list(lost)}, which the index names",
                symbol=lost[0],
                confidence=Confidence.HIGH,
                evidence=(f"the index places `{lost[0]}` in `{index.shards[lost[0]]}`",),
                help="save the model again; transformers initialises a missing tensor at random",
                claim=claims.FileRefused(index.document.place(_MAP, lost[0]), index.shards[lost[0]], lost[0]),
            )
        moved = [name for name, file in index.shards.items() if name in holders and file not in holders[name]]
        if moved:
            one = moved[0]
            yield self.finding(
                index.document.place(_MAP, one),
                f"the index places {_name_list(moved)} in `{index.shards[one]}`, and `{holders[one][0]}` holds it",
                symbol=one,
                severity=Severity.INFO,
                confidence=Confidence.HIGH,
                evidence=("transformers reads all shards, and programs that look a tensor up by the index do not",),
                help="write the index again",
                claim=claims.FileRefused(index.document.place(_MAP, one), index.shards[one], one),
            )
        doubled = [name for name, files in holders.items() if len(files) > 1]
        if doubled:
            one = doubled[0]
            place = index.document.place(_MAP, one) if one in index.shards else folder.place(holders[one][1])
            yield self.finding(
                place,
                f"{len(holders[one])} shards hold {_name_list(doubled)}",
                symbol=one,
                severity=Severity.WARNING,
                confidence=Confidence.HIGH,
                evidence=(f"`{one}` is in {_name_list(holders[one])}: the one that is read last counts",),
                help="delete the shards of an earlier model, and save this one again",
                claim=claims.HeldTwice(place, one, tuple(holders[one])),
            )

    def _in_files(self, folder: ModelFolder, names: list[str]) -> Iterator[Finding]:
        """Files that cannot be read, pointers, and links that lead out of the folder."""
        troubles = [(name, folder.weights(name)) for name in names]
        pointers = [name for name, weights in troubles if weights.trouble is folders.Trouble.POINTER]
        what = "content" if folder.documents_at_pointers else "weights"
        pointers += folder.documents_at_pointers
        if pointers:
            verb = "are pointers" if len(pointers) > 1 else "is a pointer"
            yield self.finding(
                folder.place(pointers[0]),
                f"{_name_list(pointers)} {verb} of Git LFS, not the {what}",
                symbol=pointers[0],
                severity=Severity.INFO,
                confidence=Confidence.HIGH,
                help=f"{_FETCH}: nothing was checked in the {what}",
                claim=claims.FileRefused(folder.place(pointers[0]), pointers[0]),
            )
        links = [name for name, weights in troubles if weights.trouble is folders.Trouble.OUTSIDE]
        if links:
            yield self.finding(
                folder.place(links[0]),
                f"{_name_list(links)} {'lead' if len(links) > 1 else 'leads'} out of the folder, and is not followed",
                symbol=links[0],
                severity=Severity.INFO,
                confidence=Confidence.HIGH,
                help="copy the file into the folder: nothing was checked in it",
            )
        unread = [(name, weights) for name, weights in troubles if weights.trouble is folders.Trouble.UNREAD]
        if unread:
            name, weights = unread[0]
            yield self.finding(
                folder.place(name),
                f"`{name}` is not checked: {weights.reason}",
                symbol=name,
                severity=Severity.INFO,
                confidence=Confidence.HIGH,
                help="nothing was checked in the file",
            )
        loaded = (folder.main_weights, *folder.shards_of_main) if folder.is_main_known else ()
        for name, weights in troubles:
            if weights.trouble is folders.Trouble.BROKEN or (
                weights.trouble is folders.Trouble.OTHER and name in loaded
            ):
                yield self.finding(
                    folder.place(name),
                    f"`{name}` cannot be loaded: {weights.reason}",
                    symbol=name,
                    confidence=Confidence.HIGH,
                    help="copy or save the file again",
                    claim=claims.FileRefused(folder.place(name), name),
                )


def _claim_of_class(folder: ModelFolder, place: Place) -> Claim | None:
    """The claim that the class of a folder without weights of a known name finds none."""
    config = folder.config
    if config is None or folder.main_weights is not None:
        return None
    names, name = config.get("architectures"), config.text("_class_name")
    if name is not None:
        return claims.NoWeightsFound(place, "diffusers", name)
    return claims.NoWeightsFound(place, "transformers", str(names[0])) if isinstance(names, list) and names else None


def _name_list(names: list[str]) -> str:
    """The first few names, and how many more there are."""
    some = ", ".join(f"`{name}`" for name in names[:_MOST_NAMES])
    more = len(names) - _MOST_NAMES
    return f"{some} and {more} more" if more > 0 else some
