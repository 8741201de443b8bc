"""Claims of findings: small typed facts, made along with a finding, that its rule's probe takes and a run judges.

The rooms here hold the claims of the built-in rules; each is loaded with the first claim of it. A pack has its own, in
a module that its rules import. A claim is stored by its class and its fields: texts, whole numbers, truths, places,
None, and tuples of these, as they are annotated; and with what its places stand in. What confirms reads these rooms
where they lie: their imports are relative, and of the standard library.

Begin with `layers.py`, which is a page of them.
It imports `lazy.py`, `source.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..lazy import lazily
from .claim import Anchor as Anchor
from .claim import Claim as Claim
from .claim import as_json as as_json
from .claim import from_json as from_json
from .claim import moved as moved
from .claim import name_at as name_at
from .claim import places_of as places_of
from .claim import texts_of as texts_of

if TYPE_CHECKING:
    from .calls import AlwaysDrops as AlwaysDrops
    from .calls import Copied as Copied
    from .calls import InSlot as InSlot
    from .calls import Lost as Lost
    from .calls import NotTaken as NotTaken
    from .calls import OnCuda as OnCuda
    from .calls import OverBatch as OverBatch
    from .calls import Refused as Refused
    from .calls import RefusedLater as RefusedLater
    from .folders import EndSuppressed as EndSuppressed
    from .folders import FileRefused as FileRefused
    from .folders import HeadDiffers as HeadDiffers
    from .folders import HeldTwice as HeldTwice
    from .folders import IdHasNoClass as IdHasNoClass
    from .folders import IdHasNoRow as IdHasNoRow
    from .folders import IdIsNoToken as IdIsNoToken
    from .folders import IdIsText as IdIsText
    from .folders import IdsDiffer as IdsDiffer
    from .folders import LabelMissing as LabelMissing
    from .folders import LabelsDiffer as LabelsDiffer
    from .folders import LabelsDropped as LabelsDropped
    from .folders import LiesDeeper as LiesDeeper
    from .folders import LossUseless as LossUseless
    from .folders import NotWeightsOnly as NotWeightsOnly
    from .folders import NoWeightsFound as NoWeightsFound
    from .folders import OwnClassMissing as OwnClassMissing
    from .folders import SettingRefused as SettingRefused
    from .folders import StateDiffers as StateDiffers
    from .folders import TemplateName as TemplateName
    from .folders import TemplateToken as TemplateToken
    from .folders import TensorDiffers as TensorDiffers
    from .layers import Changed as Changed
    from .layers import KeptAsGiven as KeptAsGiven
    from .layers import LeftBehind as LeftBehind
    from .layers import MadeAnew as MadeAnew
    from .layers import MadeAside as MadeAside
    from .layers import MovedLate as MovedLate
    from .layers import NotListed as NotListed
    from .layers import NotRegistered as NotRegistered
    from .layers import NotSet as NotSet
    from .layers import Outgrown as Outgrown
    from .layers import Repeated as Repeated
    from .layers import Tied as Tied
    from .layers import Unused as Unused
    from .lookups import ConstantOutside as ConstantOutside
    from .lookups import FedNumbers as FedNumbers
    from .lookups import GuardAdmits as GuardAdmits
    from .lookups import IdsExceed as IdsExceed
    from .lookups import PaddingOutside as PaddingOutside
    from .lookups import SizedByWidth as SizedByWidth
    from .positions import GridEmpty as GridEmpty
    from .positions import LengthNotPositions as LengthNotPositions
    from .positions import NegativeFiller as NegativeFiller
    from .positions import RowsDiffer as RowsDiffer
    from .positions import StepBeyond as StepBeyond
    from .positions import TableEnds as TableEnds
    from .positions import TableShort as TableShort
    from .recipes import KeyTwice as KeyTwice
    from .recipes import NoEntry as NoEntry
    from .recipes import NoKey as NoKey
    from .recipes import NoModule as NoModule
    from .recipes import NotCalled as NotCalled
    from .recipes import NotComposed as NotComposed
    from .recipes import NotLoaded as NotLoaded
    from .recipes import NotLocated as NotLocated
    from .recipes import NotMade as NotMade
    from .recipes import NotMoved as NotMoved
    from .recipes import NotParsed as NotParsed
    from .recipes import NotSaved as NotSaved
    from .recipes import NotTrained as NotTrained
    from .recipes import NotWrapped as NotWrapped
    from .recipes import OptimizerNotSaved as OptimizerNotSaved
    from .recipes import RowsLacking as RowsLacking
    from .recipes import SizesDiffer as SizesDiffer
    from .recipes import Unresolved as Unresolved
    from .training import Fed as Fed
    from .training import InNoGroup as InNoGroup
    from .training import NoGradient as NoGradient
    from .training import NothingToTrain as NothingToTrain
else:
    __getattr__ = lazily(
        __name__,
        {
            ".calls": "Refused RefusedLater NotTaken InSlot OnCuda AlwaysDrops OverBatch Lost Copied",
            ".folders": (
                "EndSuppressed FileRefused HeadDiffers HeldTwice IdHasNoClass IdHasNoRow IdIsNoToken IdIsText "
                "IdsDiffer LabelMissing LabelsDiffer LabelsDropped LiesDeeper LossUseless NoWeightsFound "
                "NotWeightsOnly OwnClassMissing SettingRefused StateDiffers TemplateName TemplateToken "
                "TensorDiffers"
            ),
            ".layers": (
                "NotRegistered KeptAsGiven LeftBehind MadeAside MadeAnew NotListed MovedLate Tied "
                "Outgrown NotSet Unused Changed Repeated"
            ),
            ".lookups": "SizedByWidth FedNumbers IdsExceed GuardAdmits PaddingOutside ConstantOutside",
            ".positions": "LengthNotPositions StepBeyond TableEnds RowsDiffer TableShort NegativeFiller GridEmpty",
            ".recipes": (
                "NotMoved NoModule NotSaved NotTrained OptimizerNotSaved NotWrapped SizesDiffer "
                "RowsLacking NotLoaded NotMade KeyTwice NoEntry NoKey Unresolved NotComposed NotLocated NotCalled "
                "NotParsed"
            ),
            ".training": "Fed NoGradient InNoGroup NothingToTrain",
        },
    )
